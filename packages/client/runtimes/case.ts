import type * as Library from '../src/index.ts'

export type RuntimeKind = 'node' | 'bun' | 'deno' | 'browser'

/** What the hostile server has of one request. */
export interface SeenRequest {
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
  /** Whether the server has stored its plant, whatever it said. */
  isStored: boolean
}

/** One request and the socket it came on, to be answered byte by byte. */
export interface Exchange {
  /** The number of the request in its case, from 1; preflights are not counted. */
  readonly attempt: number
  /** ms since the first request of the case. */
  readonly atMs: number
  readonly request: SeenRequest
  /** Another origin, where no request should arrive; one that does is seen as the case's. */
  readonly strayUrl: string
  /** Text goes out as UTF-8. */
  send(bytes: string): void
  /** Notes that the plant of this request is stored. */
  store(): void
  /** Takes no further connections. */
  refuse(): void
  /** Ends the connection in order (FIN). */
  end(): void
  /** Cuts the connection off (RST). */
  reset(): void
  pause(ms: number): Promise<void>
}

export type Script = (exchange: Exchange) => unknown

/** What a call comes to; where an array is given, one of its values. */
export interface Ends {
  /** That of the error, or `stored`. */
  readonly code?: Code | readonly Code[]
  readonly applied?: Library.Applied | readonly Library.Applied[]
  readonly attempts?: number
  readonly status?: number
  readonly reason?: string
  readonly retryable?: boolean
  readonly cause?: unknown
}

type Code = Library.PlantStoreErrorCode | 'stored'

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

/** What a check may use. */
export interface CaseTools {
  readonly library: typeof Library
  /** Whether this runtime is one of those where the check demands something else. */
  readonly differs: boolean
  /** Where the package undici is; undefined but on Node.js. */
  readonly undiciUrl: string | undefined
  client(call?: Pick<Call, 'to' | 'options'>): Library.PlantStoreClient
  /**
   * Makes a call; gives what it came to.
   * @throws when that is not what it has to come to, or is contradicted by what is stored
   */
  call(call: Call): Promise<Ends>
  /** Every request so far, preflights left out. */
  seen(): Promise<readonly SeenRequest[]>
}

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
  readonly check: (tools: CaseTools) => Promise<void>
  /** Changes something global, so that no other case may run beside it. */
  readonly isAlone?: true
  /** Where the check demands something else, or nothing, and why. */
  readonly differs?: Partial<Record<RuntimeKind, string>>
}

/** A claim of a case does not hold. */
export class ClaimError extends Error {
  override name = 'ClaimError'
}

export function assertTrue(holds: boolean, claim: string): asserts holds {
  if (!holds) throw new ClaimError(claim)
}

export function isEqual(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true
  if (typeof one !== 'object' || typeof other !== 'object' || !one || !other) return false
  const [ones, others] = [Object.entries(one), new Map(Object.entries(other))]
  const isShared = ([name, value]: [string, unknown]) =>
    others.has(name) && isEqual(value, others.get(name))
  return (
    Array.isArray(one) === Array.isArray(other) &&
    ones.length === others.size &&
    ones.every(isShared)
  )
}

function show(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  return `{${Object.entries(value).map(([name, member]) => `${name}: ${show(member)}`)}}`
}

/** Compares primitives by `Object.is`, objects and arrays by their own members. */
export function assertEqual(actual: unknown, expected: unknown, subject: string): void {
  assertTrue(isEqual(actual, expected), `${subject}: ${show(actual)} instead of ${show(expected)}`)
}

/** Makes one call after the other, and counts the requests that all of them took. */
export function makes(calls: readonly Call[], requests?: number): Case['check'] {
  return async ({ call, seen }) => {
    for (const one of calls) await call(one)
    if (requests !== undefined) assertEqual((await seen()).length, requests, 'requests')
  }
}

export const STORED: Call = { ends: { code: 'stored' } }
