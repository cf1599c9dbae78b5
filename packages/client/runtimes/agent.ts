import type * as Library from '../src/index.ts'
import type { Facts, Order } from './case.ts'
import { printsOf, textsOf } from './secret-search.ts'

/** Keeps the cores busy while cases wait, without making the times of one depend on the others. */
const CASES_AT_ONCE = 4

export const TOKEN = 'plant_4f3e2d1c0b9a_VHdvU2VjcmV0RmVybnM'
export const TOTAL_TIMEOUT_MS = 8_000

const REASON = new Error('the caller has left')

export interface Report {
  readonly cases: readonly { readonly facts: readonly Facts[]; readonly endedAt: number }[]
  /** The texts in errors and events, and what a console shows of them. */
  readonly texts: readonly string[]
  readonly prints: readonly string[]
  /** What was printed, and rejected unhandled. */
  readonly noise: readonly string[]
}

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

/** Puts a dispatcher of undici in the place of that of the runtime; gives what puts it back. */
async function setDispatcher(name: string, undiciUrl: string): Promise<() => Promise<void>> {
  const undici = await import(undiciUrl)
  const original = undici.getGlobalDispatcher()
  const agent = new undici.Agent()
  const retries = { methods: ['POST'], maxRetries: 1, minTimeout: 10 }
  undici.setGlobalDispatcher(name === 'Agent' ? agent : new undici.RetryAgent(agent, retries))
  return () => {
    undici.setGlobalDispatcher(original)
    return agent.close()
  }
}

async function sendRows(
  library: typeof Library,
  client: Library.PlantStoreClient,
  count: number,
): Promise<Partial<Facts>> {
  async function* slowPlants() {
    for (let id = 0; id < count; id++) {
      await new Promise((resolve) => setTimeout(resolve, 10))
      yield { id, name: 'Fern' }
    }
  }
  const rows: boolean[] = []
  const results = library.createPlants(client, slowPlants(), { concurrency: 4 })
  for await (const { index, ok } of results) rows[index] = ok
  return { rows }
}

/** Makes a call, over another fetch if one is given; gives what it came to, and `show` each error and event. */
async function make(
  { library, fetch }: Means,
  { abort, id = 7, options, rows, url }: Order,
  show: (value: object) => void,
): Promise<Partial<Facts>> {
  const controller = new AbortController()
  let abortedAt = Number.NaN
  const onEvent = (event: Library.PlantStoreEvent) => {
    show(event)
    if (event.type !== abort?.on) return
    setTimeout(() => {
      abortedAt = performance.now()
      controller.abort(REASON)
    }, abort.afterMs)
  }
  const own = { timeoutMs: 1_500, totalTimeoutMs: TOTAL_TIMEOUT_MS, fetch, ...options, onEvent }
  const client = library.createPlantStoreClient({ baseUrl: url, token: TOKEN, ...own })
  if (rows !== undefined) return sendRows(library, client, rows)
  const { signal } = controller
  const result = await client.tryCreatePlant({ id: BigInt(id), name: 'Fern' }, { signal })
  const { attempts } = result.meta
  if (result.ok) return { code: 'stored', applied: 'yes', attempts, plant: result.plant }
  show(result.error)
  const isReason = result.error.cause === REASON
  return { ...result.error.toJSON(), isReason, msAfterAbort: performance.now() - abortedAt }
}

interface Means {
  readonly library: typeof Library
  readonly fetch: Library.PlantStoreFetch | undefined
}

/** Carries out what it is told in any runtime that has fetch; each list is a case. */
export async function carryOut(
  means: Means,
  orders: readonly (readonly Order[])[],
  undiciUrl = '',
): Promise<Report> {
  const [noise, texts, prints] = [watchNoise(), [] as string[], [] as string[]]
  const show = (value: object) => {
    texts.push(...textsOf(value))
    prints.push(...printsOf(value))
  }
  const cases = orders.map((own) => ({ own, facts: [] as Facts[], endedAt: 0 }))
  const run = async (one: (typeof cases)[number]) => {
    for (const order of one.own) {
      const { dispatcher } = order
      const restore = dispatcher && (await setDispatcher(dispatcher, undiciUrl))
      const begin = performance.now()
      const facts = await make(means, order, show)
      one.facts.push({ ...facts, ms: performance.now() - begin })
      await restore?.()
    }
    one.endedAt = Date.now()
  }
  const isAlone = ({ own }: (typeof cases)[number]) => own.some(({ dispatcher }) => dispatcher)
  await forEachAtOnce(
    CASES_AT_ONCE,
    cases.filter((one) => !isAlone(one)),
    run,
  )
  await forEachAtOnce(1, cases.filter(isAlone), run)
  return { cases: cases.map(({ facts, endedAt }) => ({ facts, endedAt })), texts, prints, noise }
}
