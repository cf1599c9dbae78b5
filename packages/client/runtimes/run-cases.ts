import type * as Library from '../src/index.ts'
import {
  assertEqual,
  assertTrue,
  type Call,
  type Case,
  type CaseTools,
  type Ends,
  isEqual,
  type RuntimeKind,
  type SeenRequest,
} from './case.ts'
import { cases } from './cases.ts'
import type { Opened } from './hostile-server.ts'
import { findSecret, findUnseen } from './secret-search.ts'

export interface RunOptions {
  readonly controlUrl: string
  readonly library: typeof Library
  readonly runtime: RuntimeKind
  /** Where the package undici is, for those that take its dispatchers. */
  readonly undiciUrl: string | undefined
}

const TOKEN = 'plant_4f3e2d1c0b9a_VHdvU2VjcmV0RmVybnM'

/** Keeps the cores busy while cases wait, without making the times of one depend on the others. */
const CASES_AT_ONCE = 4

/** A case that lasts longer than this hangs. */
const PATIENCE_MS = 30_000

/** How long what was on its way at the end of a case may still arrive. */
const ARRIVAL_MS = 150

/** What a call may take beyond its own times, on a busy machine. */
const SLACK_MS = 1_000

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const getJson = async (url: string) => (await fetch(url)).json()

/** Runs work on every item, some at once. */
export async function forEachAtOnce<Item>(
  atOnce: number,
  items: readonly Item[],
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const waiting = [...items]
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

/** One run of one case. */
class Run {
  readonly #options: RunOptions
  readonly #case: Case
  readonly #urls: Readonly<Record<NonNullable<Call['to']>, string>>
  readonly #seenUrl: string
  /** Errors and events, which must not show what a caller's log must not hold. */
  readonly #shown: unknown[] = []
  #seenAtEnd = 0
  problem: string | undefined

  constructor(options: RunOptions, one: Case, { urls, refusedUrl }: Opened) {
    this.#options = options
    this.#case = one
    const server = urls[cases.indexOf(one)] ?? ''
    this.#urls = { server, tls: server.replace('http:', 'https:'), nobody: refusedUrl }
    this.#seenUrl = `${options.controlUrl}/seen/${cases.indexOf(one)}`
  }

  async check(): Promise<void> {
    let timer: unknown
    const hangs = new Promise((resolve) => {
      timer = setTimeout(resolve, PATIENCE_MS, 'it hangs')
    })
    try {
      assertEqual(await Promise.race([this.#case.check(this.#tools()), hangs]), undefined, 'end')
      for (const value of this.#shown) {
        assertEqual(findSecret(value, TOKEN), undefined, 'a text with the token')
        assertEqual(findUnseen(value), undefined, 'a text that a terminal would obey')
        assertTrue(JSON.stringify(value) !== undefined, 'errors and events can be written as JSON')
      }
    } catch (error) {
      this.problem = String(error)
    } finally {
      clearTimeout(timer as number)
    }
    await sleep(ARRIVAL_MS)
    this.#seenAtEnd = (await this.#seen()).length
  }

  /** A call that has ended sends nothing more. */
  async findLateRequests(): Promise<void> {
    const late = (await this.#seen()).slice(this.#seenAtEnd)
    if (late.length > 0) this.problem ??= `after the end: ${late.map(({ body }) => body)}`
  }

  #seen(): Promise<readonly SeenRequest[]> {
    return getJson(this.#seenUrl)
  }

  #tools(): CaseTools {
    const { library, runtime, undiciUrl } = this.#options
    return {
      library,
      undiciUrl,
      differs: runtime in (this.#case.differs ?? {}),
      client: (call) => library.createPlantStoreClient(this.#complete(call)),
      call: (call) => this.#call(call),
      seen: () => this.#seen(),
    }
  }

  #complete({ to = 'server', options = {} }: Pick<Call, 'to' | 'options'> = {}) {
    return {
      baseUrl: this.#urls[to],
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

  async #call(call: Call): Promise<Ends> {
    const { id = 7, signal, ends } = call
    const { library, runtime } = this.#options
    const options = this.#complete(call)
    const begin = performance.now()
    const given: Ends = await library
      .createPlantStoreClient(options)
      .createPlant({ id, name: 'Fern' }, { signal })
      .then((plant) => {
        assertEqual(plant, { name: 'Fern' }, 'the plant')
        return { code: 'stored', applied: 'yes' } as const
      })
      .catch(async (error: Library.PlantStoreError) => {
        assertTrue(error instanceof library.PlantStoreError, `${error} is an error of the client`)
        this.#shown.push(error)
        assertTrue(error.reason?.trim() !== '', 'a reason says something')
        const isStored = (await this.#seen()).some((request) => request.isStored)
        assertTrue(!(error.applied === 'no' && isStored), 'what is stored is not `no`')
        return error
      })
    const tookMs = performance.now() - begin
    assertTrue(tookMs < (options.totalTimeoutMs ?? 0) + SLACK_MS, `the call took ${tookMs} ms`)
    const differs = runtime in (this.#case.differs ?? {}) ? call.differs : {}
    for (const [name, value] of Object.entries({ ...ends, ...differs })) {
      const actual = given[name as keyof Ends]
      if (!Array.isArray(value) || !value.some((one) => isEqual(actual, one)))
        assertEqual(actual, value, name)
    }
    return given
  }
}

/** What is printed, and rejected unhandled, from here on. */
function watchNoise(): string[] {
  const noise: string[] = []
  const note = (...args: unknown[]) => void noise.push(args.join(' '))
  const host = globalThis as { process?: { on?: (name: string, on: (e: unknown) => void) => void } }
  if (host.process?.on === undefined) {
    globalThis.addEventListener('unhandledrejection', ({ reason }) => note(reason))
    globalThis.addEventListener('error', ({ message }) => note(message))
  } else {
    host.process.on('unhandledRejection', note)
    host.process.on('uncaughtException', note)
  }
  for (const method of ['debug', 'error', 'info', 'log', 'trace', 'warn'] as const)
    console[method] = note
  return noise
}

/** Runs every case against the hostile server, in any runtime that has fetch; gives what does not hold. */
export async function runCases(options: RunOptions): Promise<string[]> {
  const noise = watchNoise()
  const opened: Opened = await getJson(`${options.controlUrl}/opened`)
  const runs = cases.map((one) => ({ one, run: new Run(options, one, opened) }))
  for (const isAlone of [false, true]) {
    const some = runs.filter(({ one }) => (one.isAlone ?? false) === isAlone)
    await forEachAtOnce(isAlone ? 1 : CASES_AT_ONCE, some, ({ run }) => run.check())
  }
  for (const { run } of runs) await run.findLateRequests()
  const problems = runs.flatMap(({ one, run }) => run.problem && `${one.claim}: ${run.problem}`)
  return [...problems.filter((problem) => problem !== undefined), ...noise]
}
