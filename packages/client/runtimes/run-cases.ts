import type * as Library from '../src/index.ts'
import { type Case, Run, type RuntimeKind } from './case.ts'
import { cases } from './cases.ts'
import type { SeenRequest } from './exchange.ts'
import type { Opened } from './hostile-server.ts'

export interface RunOptions {
  readonly controlUrl: string
  readonly library: typeof Library
  readonly runtime: RuntimeKind
  /** Where the package undici is, for those that take its dispatchers. */
  readonly undiciUrl: string | undefined
}

/** Keeps the cores busy while cases wait, without making the times of one depend on the others. */
const CASES_AT_ONCE = 4

/** A case that lasts longer than this hangs. */
const PATIENCE_MS = 30_000

/** How long what was on its way at the end of a case may still arrive. */
const ARRIVAL_MS = 150

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

async function checkInTime({ check }: Case, run: Run): Promise<void> {
  let timer: unknown
  const hangs = new Promise((_, reject) => {
    timer = setTimeout(reject, PATIENCE_MS, 'it hangs')
  })
  await Promise.race([check(run), hangs]).finally(() => clearTimeout(timer as number))
  run.assertSecret()
}

/** Gives a function that gives what does not hold, once every other case has ended, too. */
async function runCase(
  { controlUrl, library, runtime, undiciUrl }: RunOptions,
  one: Case,
  { urls, refusedUrl }: Opened,
): Promise<() => Promise<string[]>> {
  const index = cases.indexOf(one)
  const server = urls[index] ?? ''
  const seen = async (): Promise<SeenRequest[]> =>
    (await fetch(`${controlUrl}/seen/${index}`)).json()
  const run = new Run({
    library,
    undiciUrl,
    differs: runtime in (one.differs ?? {}),
    urls: { server, tls: server.replace('http:', 'https:'), nobody: refusedUrl },
    seen,
  })
  const problems: string[] = []
  await checkInTime(one, run).catch((error) => void problems.push(`${one.claim}: ${error}`))
  await new Promise((resolve) => setTimeout(resolve, ARRIVAL_MS))
  const { length } = await seen()
  return async () => {
    // A call that has ended sends nothing more.
    const late = (await seen()).slice(length).map(({ body }) => `${one.claim}: then came ${body}`)
    return [...problems, ...late]
  }
}

/** What is printed, and rejected unhandled, from here on. */
function watchNoise(): string[] {
  const noise: string[] = []
  const note = (...args: unknown[]) => void noise.push(args.join(' '))
  const host = globalThis as { process?: { on?: (name: string, on: typeof note) => void } }
  if (host.process?.on === undefined) {
    globalThis.addEventListener('unhandledrejection', ({ reason }) => note(reason))
    globalThis.addEventListener('error', ({ message }) => note(message))
  } else {
    host.process.on('unhandledRejection', note)
    host.process.on('uncaughtException', note)
  }
  const methods = ['debug', 'error', 'info', 'log', 'trace', 'warn'] as const
  for (const method of methods) console[method] = note
  return noise
}

/** Runs every case against the hostile server, in any runtime that has fetch; gives what does not hold. */
export async function runCases(options: RunOptions): Promise<string[]> {
  const noise = watchNoise()
  const opened: Opened = await (await fetch(`${options.controlUrl}/opened`)).json()
  const ends: (() => Promise<string[]>)[] = []
  const run = async (one: Case) => ends.push(await runCase(options, one, opened))
  const isAlone = (one: Case) => one.isAlone === true
  await forEachAtOnce(
    CASES_AT_ONCE,
    cases.filter((one) => !isAlone(one)),
    run,
  )
  await forEachAtOnce(1, cases.filter(isAlone), run)
  const problems = await Promise.all(ends.map((end) => end()))
  return [...problems.flat(), ...noise]
}
