import type * as Library from '../src/index.ts'
import type { Script, SeenRequest } from './exchange.ts'
import { findSecret, findUnseen } from './secret-search.ts'

export type RuntimeKind = 'node' | 'bun' | 'deno' | 'browser'

interface Facts
  extends Pick<Library.PlantStoreError, 'applied' | 'attempts' | 'retryable' | 'cause'> {
  /** That of the error, or `stored`. */
  readonly code: Library.PlantStoreErrorCode | 'stored'
  readonly status: number
  readonly reason: string
}

/** What a call comes to; where an array is given, one of its values. */
export type Ends = { readonly [Name in keyof Facts]?: Facts[Name] | readonly Facts[Name][] }

/** A call by a client with short timeouts, and what it has to come to. */
export interface Call {
  /** Of the plant, whose name is always Fern; by default 7. */
  readonly id?: number
  /** The server of the case, the same by https, or where nobody listens. */
  readonly to?: 'server' | 'tls' | 'nobody'
  readonly options?: Library.PlantStoreClientOptions
  readonly signal?: AbortSignal
  readonly ends: Ends
  /** What is otherwise where the case differs. */
  readonly differs?: Ends
}

export const STORED: Call = { ends: { code: 'stored' } }

export interface Case {
  /** A sentence that the check decides. */
  readonly claim: string
  readonly script: Script
  /** Resets the first connection before any byte. */
  readonly refusesConnection?: true
  /** Whether it speaks TLS, under a certificate that nobody trusts. */
  readonly isTls?: true
  /** What it does to the beginning of a TLS handshake where it speaks none; by default, nothing. */
  readonly onHandshake?: Script
  readonly check: (run: Run) => Promise<unknown>
  /** Changes something global, so that no other case may run beside it. */
  readonly isAlone?: true
  /** Where the check demands something else, or nothing, and why. */
  readonly differs?: Partial<Record<RuntimeKind, string>>
}

export function assertTrue(holds: boolean, claim: string): asserts holds {
  if (!holds) throw new Error(claim)
}

/** By `Object.is`, and objects and arrays by their own members. */
function isEqual(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true
  if (typeof one !== 'object' || typeof other !== 'object' || !one || !other) return false
  const [ones, others] = [Object.entries(one), new Map(Object.entries(other))]
  const isShared = ([name, value]: [string, unknown]) =>
    others.has(name) && isEqual(value, others.get(name))
  return ones.length === others.size && ones.every(isShared)
}

export function assertEqual(actual: unknown, expected: unknown, subject: string): void {
  assertTrue(isEqual(actual, expected), `${subject}: ${actual} instead of ${expected}`)
}

const TOKEN = 'plant_4f3e2d1c0b9a_VHdvU2VjcmV0RmVybnM'

/** What a call may take beyond its own times, on a busy machine. */
const SLACK_MS = 1_000

/** Where a run is, and with what. */
export interface Setup {
  readonly library: typeof Library
  /** Where the package undici is; undefined but on Node.js. */
  readonly undiciUrl: string | undefined
  /** Whether this runtime is one of those where the check demands something else. */
  readonly differs: boolean
  readonly urls: Readonly<Record<NonNullable<Call['to']>, string>>
  /** Every request so far, preflights left out. */
  readonly seen: () => Promise<readonly SeenRequest[]>
}

/** One run of one case, as its check uses it. */
export class Run {
  readonly setup: Setup
  /** Errors and events, which must not show what a caller's log must not hold. */
  readonly #shown: unknown[] = []

  constructor(setup: Setup) {
    this.setup = setup
  }

  optionsOf({ to = 'server', options = {} }: Pick<Call, 'to' | 'options'>) {
    return {
      baseUrl: this.setup.urls[to],
      token: TOKEN,
      timeoutMs: 1_500,
      totalTimeoutMs: 8_000,
      ...options,
      onEvent: (event: Library.PlantStoreEvent) => {
        this.#shown.push(event)
        options.onEvent?.(event)
      },
    }
  }

  /**
   * Makes a call; gives what it came to.
   * @throws when that is not what it has to come to, or is contradicted by what is stored
   */
  async call(call: Call): Promise<Facts> {
    const { id = 7, signal, ends } = call
    const options = this.optionsOf(call)
    const client = this.setup.library.createPlantStoreClient(options)
    const begin = performance.now()
    const facts: Partial<Facts> = await client.createPlant({ id, name: 'Fern' }, { signal }).then(
      (plant) => {
        assertEqual(plant, { name: 'Fern' }, `the plant, ${plant.name},`)
        return { code: 'stored', applied: 'yes' }
      },
      (error: unknown) => this.#factsOf(error),
    )
    const tookMs = performance.now() - begin
    assertTrue(tookMs < Number(options.totalTimeoutMs) + SLACK_MS, `the call took ${tookMs} ms`)
    const expected = { ...ends, ...(this.setup.differs && call.differs) }
    for (const [name, value] of Object.entries(expected)) {
      const actual = facts[name as keyof Facts]
      if (![value].flat().includes(actual)) assertEqual(actual, value, name)
    }
    return facts as Facts
  }

  async #factsOf(error: unknown): Promise<Partial<Facts>> {
    const { PlantStoreError } = this.setup.library
    assertTrue(error instanceof PlantStoreError, `${error} is an error of the client`)
    this.#shown.push(error)
    assertTrue(error.reason?.trim() !== '', 'a reason says something')
    const isLie = error.applied === 'no' && (await this.isStored())
    assertTrue(!isLie, 'what is stored is not `no`')
    return error as Partial<Facts>
  }

  async isStored(): Promise<boolean> {
    return (await this.setup.seen()).some((request) => request.isStored)
  }

  /** Looks at all errors and events. */
  assertSecret(): void {
    for (const value of this.#shown) {
      assertEqual(findSecret(value, TOKEN), undefined, 'a text with the token')
      assertEqual(findUnseen(value), undefined, 'a text that a terminal would obey')
      assertTrue(JSON.stringify(value) !== undefined, 'errors and events can be written as JSON')
    }
  }
}

/** Makes one call after the other, and counts the requests that all of them took. */
export function makes(calls: readonly Call[], requests?: number): Case['check'] {
  return async (run) => {
    for (const call of calls) await run.call(call)
    if (requests !== undefined) assertEqual((await run.setup.seen()).length, requests, 'requests')
  }
}
