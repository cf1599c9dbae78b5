import { describe, expect, test } from 'vitest'
import { OutcomeUnknownError, StoreUnavailableError } from '../../../apps/server/src/store/store.ts'
import { startRestartableServer } from '../../../test/restartable-server.ts'
import { type Cut, startTcpProxy } from '../../../test/tcp-proxy.ts'
import {
  type Applied,
  createPlantStoreClient,
  type PlantStoreClientOptions,
  type PlantStoreErrorCode,
  type PlantStoreFetch,
} from '../src/index.ts'
import { undiciFetch } from '../src/undici.ts'
import { forEachAtOnce } from './agent.ts'
import { startBrokenServer } from './broken-server.ts'

const AT_ONCE = 48

/** Longer than any exchange here takes, and short where a cut leaves both sides waiting. */
const TIMEOUT_MS = 1_500

/** A retry is to succeed even while other work keeps the machine busy. */
const RETRY_TIMEOUT_MS = 3_000

/** Ids of another length change an exchange by a few bytes. */
const MARGIN_BYTES = 24

/** What the client said of one plant. */
interface Verdict {
  readonly id: bigint
  readonly name: string
  readonly applied: Applied
  readonly code: PlantStoreErrorCode | 'stored'
}

type Server = Awaited<ReturnType<typeof startBrokenServer | typeof startRestartableServer>>

/** A whole server, which does not wait long for what a cut left open. */
const startServer = () => startRestartableServer(['--shutdown-timeout-ms=200'])

let nextId = 1n

/** Sends plants to a server, and in the end compares what the client said with what is stored. */
function watch(server: Server) {
  const verdicts: Verdict[] = []
  const { url: baseUrl, token } = server
  return {
    verdicts,
    /** The name says how the exchange is broken. */
    async send(name: string, options: PlantStoreClientOptions = {}, id = nextId++) {
      const shared = { baseUrl, token, timeoutMs: TIMEOUT_MS, maxRetries: 0 }
      const result = await createPlantStoreClient({ ...shared, ...options }).tryCreatePlant({
        id,
        name,
      })
      const { applied, code } = result.ok
        ? ({ applied: 'yes', code: 'stored' } as const)
        : result.error
      verdicts.push({ id, name, applied, code })
    },
    /** Ends the server; no verdict is a lie. Gives the number of verdicts of each kind. */
    async end() {
      await server.stop()
      const stored = server.readPlants()
      const lies = verdicts.filter(({ id, name, applied }) =>
        stored.get(id)?.name === name ? applied === 'no' : applied === 'yes',
      )
      expect(lies).toStrictEqual([])
      const count = (kind: Applied) => verdicts.filter(({ applied }) => applied === kind).length
      return { no: count('no'), maybe: count('maybe'), yes: count('yes') }
    },
  }
}

/** How many bytes an exchange takes each way. */
async function measure(server: Server): Promise<Record<Cut['direction'], number>> {
  const proxy = await startTcpProxy(server.port)
  await watch(server).send('whole', { baseUrl: proxy.url })
  proxy.close()
  return proxy.passed()
}

/** Sends one plant for each way to cut an exchange, with every so many bytes passed. */
async function sendEveryCut(
  server: Server,
  fetch: PlantStoreFetch,
  { connections = 1, step = 1, maxRetries = 0, timeoutMs = TIMEOUT_MS } = {},
) {
  const lengths = await measure(server)
  const cuts = (['reset', 'end', 'half'] as const).flatMap((ending) =>
    (['request', 'response'] as const).flatMap((direction) => {
      const count = Math.ceil((lengths[direction] + MARGIN_BYTES) / step)
      return [...Array(count).keys()].map((at) => ({ ending, direction, afterBytes: at * step }))
    }),
  )
  const { send, end, verdicts } = watch(server)
  await forEachAtOnce(AT_ONCE, cuts, async (cut) => {
    const proxy = await startTcpProxy(server.port, { ...cut, connections })
    const name = `${cut.direction} ${cut.ending} after ${cut.afterBytes}`
    await send(name, { baseUrl: proxy.url, maxRetries, timeoutMs, fetch })
    proxy.close()
  })
  return { counts: await end(), verdicts, lengths }
}

describe.each<[name: string, fetch: PlantStoreFetch]>([
  ['fetch', globalThis.fetch],
  ['undici', undiciFetch],
])(
  'over %s the exchange is cut at every byte, both ways, by a reset, an end and half an end',
  (_name, fetch) => {
    test('what one attempt says of the plant is what the database holds', async () => {
      const { counts, lengths } = await sendEveryCut(await startServer(), fetch)
      // A response that broke after its head, or after its end, still says that the plant is stored.
      expect(counts.yes).toBeGreaterThan(0)
      expect(counts.maybe).toBeGreaterThan(lengths.request)
    })

    test('a retry after the cut stores the plant', async () => {
      const again = { step: 3, maxRetries: 3, timeoutMs: RETRY_TIMEOUT_MS }
      const { verdicts } = await sendEveryCut(await startServer(), fetch, again)
      const failed = verdicts.filter(({ code }) => code !== 'stored')
      // A request that ends halfway is refused as malformed, and a refusal is not retried.
      expect(failed.filter(({ name }) => !name.startsWith('request half'))).toStrictEqual([])
    })

    test('every attempt is cut, and what the call says at its end is true', async () => {
      await sendEveryCut(await startServer(), fetch, {
        connections: 9,
        step: 11,
        maxRetries: 2,
      })
    })
  },
)

test('a plant whose response was lost is never called unstored by a later 503', async () => {
  const seen = new Set<bigint>()
  const server = await startBrokenServer((plants) => ({
    async create(plant) {
      if (seen.has(plant.id)) throw new StoreUnavailableError('the queue is full')
      seen.add(plant.id)
      return plants.create(plant)
    },
  }))
  const { counts } = await sendEveryCut(server, globalThis.fetch, { step: 16, maxRetries: 1 })
  expect(counts.maybe).toBeGreaterThan(0)
})

test('an outcome that the store does not know is maybe, whether it stored the plant or not', async () => {
  const server = await startBrokenServer((plants) => ({
    async create(plant) {
      if (plant.id % 2n === 0n) await plants.create(plant)
      throw new OutcomeUnknownError('the disk has failed')
    },
  }))
  const { send, end } = watch(server)
  for (let count = 0; count < 10; count++) await send('unknown')
  expect(await end()).toStrictEqual({ no: 0, maybe: 10, yes: 0 })
})

test('a refusal of the plant, of the token and of a full queue is no, and nothing is stored', async () => {
  const server = await startBrokenServer((plants) => ({
    create: (plant) =>
      plant.name === 'full'
        ? Promise.reject(new StoreUnavailableError('the queue is full'))
        : plants.create(plant),
  }))
  const { send, end, verdicts } = watch(server)
  await send('first', {}, 0n)
  await send('other', {}, 0n)
  await send('full')
  await send('unknown token', { token: 'plant_unknown' })
  await send('x'.repeat(70_000))
  const codes = ['stored', 'conflict', 'server_error', 'unauthorized', 'too_large']
  expect(verdicts.map(({ code }) => code)).toStrictEqual(codes)
  expect([...server.readPlants()]).toStrictEqual([[0n, { name: 'first', tag: null }]])
  expect(await end()).toStrictEqual({ no: 4, maybe: 0, yes: 1 })
})

test('a server that is killed while it commits leaves no wrong verdict', async () => {
  const totals = { maybe: 0, yes: 0 }
  for (const killedAfter of [1, 40, 120, 250]) {
    const server = await startServer()
    const { send, end, verdicts } = watch(server)
    await forEachAtOnce(32, [...Array(400).keys()], async (index) => {
      await send('killed', { timeoutMs: 1_000, maxRetries: index % 2 })
      if (verdicts.length === killedAfter) void server.stop('SIGKILL')
    })
    const { maybe, yes } = await end()
    totals.maybe += maybe
    totals.yes += yes
  }
  expect(totals.yes).toBeGreaterThan(0)
  expect(totals.maybe).toBeGreaterThan(0)
})
