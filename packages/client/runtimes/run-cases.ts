import type * as Library from '../src/index.ts'
import { assertEqual, assertTrue } from './assertions.ts'
import type { Case, CaseTools, RuntimeKind, SeenRequest } from './case.ts'
import { cases } from './cases.ts'
import type { OpenedCase } from './hostile-server.ts'
import { findSecret, findUnseen } from './secret-search.ts'
import { forEachAtOnce } from './verdicts.ts'

export interface CaseResult {
  readonly claim: string
  readonly holds: boolean
  readonly ms: number
  /** Why it does not hold. */
  readonly problem?: string
}

export interface RunOptions {
  readonly controlUrl: string
  readonly library: typeof Library
  readonly runtime: RuntimeKind
  /** Where the package undici is, for those that take its dispatchers. */
  readonly undiciUrl?: string | undefined
}

const TOKEN = 'plant_4f3e2d1c0b9a_VHdvU2VjcmV0RmVybnM'

/** Keeps the cores busy while cases wait, without making the times of one depend on the others. */
const CASES_AT_ONCE = 4

/** A case that lasts longer than this hangs. */
const PATIENCE_MS = 30_000

interface Finished {
  readonly result: CaseResult
  /** ms from the opening of the case to its end, by the clock of the server. */
  readonly endedAtMs: number
  readonly opened: OpenedCase
}

async function getJson<Value>(url: string): Promise<Value> {
  const response = await fetch(url)
  return (await response.json()) as Value
}

function createTools(
  options: RunOptions,
  { differs = {} }: Case,
  opened: OpenedCase,
  shown: unknown[],
): CaseTools {
  const { controlUrl, library, runtime, undiciUrl } = options
  const complete = ({ onEvent, ...given }: Parameters<CaseTools['client']>[0] = {}) => ({
    baseUrl: opened.baseUrl,
    token: TOKEN,
    timeoutMs: 1_500,
    totalTimeoutMs: 8_000,
    ...given,
    onEvent(event: Library.PlantStoreEvent) {
      shown.push(event)
      onEvent?.(event)
    },
  })
  const seen = () => getJson<SeenRequest[]>(`${controlUrl}/seen/${opened.key}`)
  const isStored = async () => (await seen()).some((request) => request.isStored)
  return {
    library,
    differs: runtime in differs,
    undiciUrl,
    baseUrl: opened.baseUrl,
    tlsUrl: opened.baseUrl.replace(/^https?/, 'https'),
    refusedUrl: opened.refusedUrl,
    client: (given) => library.createPlantStoreClient(complete(given)),
    seen,
    isStored,
    async failureOf(call) {
      let failure: unknown
      try {
        await call
      } catch (error) {
        failure = error
      }
      assertTrue(failure !== undefined, 'the call fails')
      assertTrue(failure instanceof library.PlantStoreError, `${failure} is an error of the client`)
      shown.push(failure)
      assertTrue(!(failure.applied === 'no' && (await isStored())), 'what is stored is not `no`')
      return failure
    },
  }
}

async function withinPatience(work: Promise<void>): Promise<void> {
  let timer: unknown
  const hangs = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('it hangs')), PATIENCE_MS)
  })
  try {
    await Promise.race([work, hangs])
  } finally {
    clearTimeout(timer as number)
  }
}

async function runCase(options: RunOptions, one: Case): Promise<Finished> {
  const { claim, check } = one
  const index = cases.indexOf(one)
  const opened = await getJson<OpenedCase>(`${options.controlUrl}/open/${index}`)
  const shown: unknown[] = []
  const tools = createTools(options, one, opened, shown)
  const begin = performance.now()
  let problem: string | undefined
  try {
    await withinPatience(check(tools))
    for (const value of shown) {
      assertEqual(findSecret(value, TOKEN), undefined, 'a text with the token')
      assertEqual(findUnseen(value), undefined, 'a text that a terminal would obey')
      assertTrue(
        (value as Library.PlantStoreError).reason?.trim() !== '',
        'a reason says something',
      )
      assertTrue(JSON.stringify(value) !== undefined, 'errors and events can be written as JSON')
    }
  } catch (error) {
    problem = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  }
  const ms = Math.round(performance.now() - begin)
  const holds = problem === undefined
  const result = problem === undefined ? { claim, holds, ms } : { claim, holds, ms, problem }
  // On a busy machine this clock and the server's begin a case far apart.
  const endedAtMs = await getJson<number>(`${options.controlUrl}/clock/${opened.key}`)
  return { result, endedAtMs, opened }
}

/** How long what was on its way at the end of a case may still arrive. */
const ARRIVAL_MS = 150

/** A call that has ended sends nothing more. */
async function findLateRequests(
  { controlUrl }: RunOptions,
  { result, endedAtMs, opened }: Finished,
): Promise<CaseResult> {
  const seen = await getJson<SeenRequest[]>(`${controlUrl}/seen/${opened.key}`)
  const late = seen.filter(({ atMs }) => atMs > endedAtMs + ARRIVAL_MS)
  if (late.length === 0 || !result.holds) return result
  const described = late.map(
    ({ atMs, origin, connection, body }) =>
      `${Math.round(atMs - endedAtMs)} ms after, to ${origin}, connection ${connection}: ${body}`,
  )
  const problem = `requests came after the call had ended: ${described.join('; ')}`
  return { ...result, holds: false, problem }
}

function watchUnhandled(): string[] {
  const unhandled: string[] = []
  const host = globalThis as { process?: { on?: (name: string, on: (e: unknown) => void) => void } }
  if (host.process?.on !== undefined) {
    host.process.on('unhandledRejection', (reason) => unhandled.push(String(reason)))
    host.process.on('uncaughtException', (error) => unhandled.push(String(error)))
  } else {
    globalThis.addEventListener('unhandledrejection', ({ reason }) => unhandled.push(`${reason}`))
    globalThis.addEventListener('error', ({ message }) => unhandled.push(message))
  }
  return unhandled
}

function watchConsole(): string[] {
  const printed: string[] = []
  for (const method of ['debug', 'error', 'info', 'log', 'trace', 'warn'] as const) {
    console[method] = (...args: unknown[]) => printed.push(args.join(' '))
  }
  return printed
}

/** The claim about the whole run, beside those of the cases. */
export const QUIET_CLAIM = 'nothing is printed and no rejection is left unhandled'

/** Runs every case against the hostile server, in any runtime that has fetch. */
export async function runCases(options: RunOptions): Promise<CaseResult[]> {
  const unhandled = watchUnhandled()
  const printed = watchConsole()
  const finished: Finished[] = []
  const run = async (one: Case) => void finished.push(await runCase(options, one))
  const beside = cases.filter(({ isAlone }) => !isAlone)
  const alone = cases.filter(({ isAlone }) => isAlone)
  await forEachAtOnce(CASES_AT_ONCE, beside, run)
  await forEachAtOnce(1, alone, run)
  const results: CaseResult[] = []
  for (const { claim } of cases) {
    const own = finished.find(({ result }) => result.claim === claim)
    if (own !== undefined) results.push(await findLateRequests(options, own))
  }
  const noise = [...unhandled, ...printed]
  const quiet = { claim: QUIET_CLAIM, holds: noise.length === 0, ms: 0 }
  return [...results, quiet.holds ? quiet : { ...quiet, problem: noise.join(' | ') }]
}
