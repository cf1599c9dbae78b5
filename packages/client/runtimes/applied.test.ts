import { beforeAll, describe, expect, test } from 'vitest'
import { OutcomeUnknownError, StoreUnavailableError } from '../../../apps/server/src/store/store.ts'
import { createPlantStoreClient } from '../src/index.ts'
import { type Cut, startCuttingProxy } from './cutting-proxy.ts'
import { type RealServer, startKillableServer, startRealServer } from './real-server.ts'
import { countBy, findLies, forEachAtOnce, toVerdict, type Verdict } from './verdicts.ts'

const AT_ONCE = 48

/** Longer than any exchange here takes, and short where a cut leaves both sides waiting. */
const TIMEOUT_MS = 1_500

/** A retry is to succeed even while other work keeps the machine busy. */
const RETRY_TIMEOUT_MS = 3_000

const ENDINGS = ['reset', 'end', 'half'] as const

let nextId = 1n

function plantFor(about: string): { id: bigint; name: string } {
  return { id: nextId++, name: about }
}

/** Sends one plant through a proxy that cuts, and says what the client made of it. */
async function sendThrough(
  { port, token }: RealServer,
  cut: Cut,
  maxRetries: number,
): Promise<Verdict> {
  const { direction, afterBytes, ending } = cut
  const about = `${direction} ${ending} after ${afterBytes}`
  const proxy = await startCuttingProxy(port, cut)
  const client = createPlantStoreClient({
    baseUrl: proxy.url,
    token,
    timeoutMs: maxRetries > 2 ? RETRY_TIMEOUT_MS : TIMEOUT_MS,
    maxRetries,
  })
  const plant = plantFor(about)
  const result = await client.tryCreatePlant(plant)
  proxy.close()
  return toVerdict({ ...plant, about }, result)
}

/** The bytes of a whole exchange; ids of other lengths change them by a few. */
const MARGIN_BYTES = 24

async function measureExchange({
  port,
  token,
}: RealServer): Promise<Record<Cut['direction'], number>> {
  const proxy = await startCuttingProxy(port)
  const client = createPlantStoreClient({ baseUrl: proxy.url, token, maxRetries: 0 })
  await client.createPlant(plantFor('whole'))
  proxy.close()
  return proxy.passed
}

function everyCut(
  lengths: Record<Cut['direction'], number>,
  connections: number,
  step: number,
): Cut[] {
  return ENDINGS.flatMap((ending) =>
    (['request', 'response'] as const).flatMap((direction) =>
      Array.from(
        { length: Math.ceil((lengths[direction] + MARGIN_BYTES) / step) },
        (_, index): Cut => ({ direction, ending, connections, afterBytes: index * step }),
      ),
    ),
  )
}

async function sendEvery(
  server: RealServer,
  cuts: readonly Cut[],
  maxRetries: number,
): Promise<Verdict[]> {
  const verdicts: Verdict[] = []
  await forEachAtOnce(AT_ONCE, cuts, async (cut) => {
    verdicts.push(await sendThrough(server, cut, maxRetries))
  })
  return verdicts
}

describe('the exchange is cut at every byte, both ways, by a reset, an end and half an end', () => {
  let lengths = { request: 0, response: 0 }

  beforeAll(async () => {
    const server = await startRealServer()
    lengths = await measureExchange(server)
    await server.endAndRead()
  })

  test('what one attempt says of the plant is what the database holds', async () => {
    const server = await startRealServer()
    const cuts = everyCut(lengths, 1, 1)
    const verdicts = await sendEvery(server, cuts, 0)
    expect(findLies(verdicts, await server.endAndRead())).toStrictEqual([])
    const counts = countBy(verdicts)
    // A reply that broke after its head, or after its end, still says that the plant is stored.
    expect(counts.yes).toBeGreaterThan(0)
    expect(counts.maybe).toBeGreaterThan(lengths.request)
    expect(verdicts).toHaveLength(cuts.length)
  })

  test('a retry after the cut stores the plant', async () => {
    const server = await startRealServer()
    const verdicts = await sendEvery(server, everyCut(lengths, 1, 3), 3)
    expect(findLies(verdicts, await server.endAndRead())).toStrictEqual([])
    const failed = verdicts.filter(({ code }) => code !== 'stored')
    // A request that ends halfway is refused as malformed, and a refusal is not retried.
    expect(failed.filter(({ about }) => !about.startsWith('request half'))).toStrictEqual([])
  })

  test('every attempt is cut, and what the call says at its end is true', async () => {
    const server = await startRealServer()
    const verdicts = await sendEvery(server, everyCut(lengths, 9, 11), 2)
    expect(findLies(verdicts, await server.endAndRead())).toStrictEqual([])
  })
})

test('a plant whose reply was lost is never called unstored by a later 503', async () => {
  const creates = new Map<bigint, number>()
  const server = await startRealServer((plants) => ({
    async create(plant) {
      const count = (creates.get(plant.id) ?? 0) + 1
      creates.set(plant.id, count)
      if (count > 1) throw new StoreUnavailableError('the queue is full')
      return plants.create(plant)
    },
  }))
  const cuts = everyCut({ request: 0, response: 200 }, 1, 16)
  const verdicts = await sendEvery(server, cuts, 1)
  expect(findLies(verdicts, await server.endAndRead())).toStrictEqual([])
  expect(countBy(verdicts).maybe).toBeGreaterThan(0)
})

test('an outcome that the store does not know is maybe, whether it stored the plant or not', async () => {
  const server = await startRealServer((plants) => ({
    async create(plant) {
      if (plant.id % 2n === 0n) await plants.create(plant)
      throw new OutcomeUnknownError('the disk has failed')
    },
  }))
  const verdicts: Verdict[] = []
  const { url: baseUrl, token } = server
  const client = createPlantStoreClient({
    baseUrl,
    token,
    maxRetries: 0,
  })
  for (let count = 0; count < 10; count++) {
    const plant = plantFor('unknown')
    verdicts.push(toVerdict({ ...plant, about: 'unknown' }, await client.tryCreatePlant(plant)))
  }
  expect(findLies(verdicts, await server.endAndRead())).toStrictEqual([])
  expect(countBy(verdicts)).toStrictEqual({ no: 0, maybe: 10, yes: 0 })
})

test('a refusal of the plant, of the token and of a full queue is no, and nothing is stored', async () => {
  const server = await startRealServer((plants) => ({
    create: (plant) =>
      plant.name === 'full'
        ? Promise.reject(new StoreUnavailableError('the queue is full'))
        : plants.create(plant),
  }))
  const { url: baseUrl } = server
  const given = createPlantStoreClient({ baseUrl, token: server.token, maxRetries: 0 })
  const stranger = createPlantStoreClient({ baseUrl, token: 'plant_unknown', maxRetries: 0 })
  const taken = plantFor('first')
  await given.createPlant(taken)
  const other = { ...taken, name: 'other' }
  const full = plantFor('full')
  const unknown = plantFor('stranger')
  const long = { id: nextId++, name: 'x'.repeat(70_000) }
  const verdicts = [
    toVerdict({ ...other, about: 'taken' }, await given.tryCreatePlant(other)),
    toVerdict({ ...full, about: 'full' }, await given.tryCreatePlant(full)),
    toVerdict({ ...unknown, about: 'stranger' }, await stranger.tryCreatePlant(unknown)),
    toVerdict({ ...long, about: 'long' }, await given.tryCreatePlant(long)),
  ]
  const stored = await server.endAndRead()
  expect(findLies(verdicts, stored)).toStrictEqual([])
  expect(countBy(verdicts)).toStrictEqual({ no: 4, maybe: 0, yes: 0 })
  expect(stored).toStrictEqual(new Map([[taken.id, 'first']]))
})

test('a server that is killed while it commits leaves no wrong reply', async () => {
  let stored = 0
  let doubtful = 0
  for (const killAfterReplies of [1, 40, 120, 250]) {
    const server = await startKillableServer()
    const { url: baseUrl, token } = server
    const verdicts: Verdict[] = []
    const plants = Array.from({ length: 400 }, () => plantFor('killed'))
    const options = { baseUrl, token, timeoutMs: 1_000 }
    const once = createPlantStoreClient({ ...options, maxRetries: 0 })
    const again = createPlantStoreClient({ ...options, maxRetries: 1 })
    await forEachAtOnce(32, plants, async (plant) => {
      const { tryCreatePlant } = plant.id % 2n === 0n ? once : again
      verdicts.push(toVerdict({ ...plant, about: 'killed' }, await tryCreatePlant(plant)))
      if (verdicts.length === killAfterReplies) server.kill()
    })
    expect(findLies(verdicts, await server.endAndRead())).toStrictEqual([])
    stored += countBy(verdicts).yes
    doubtful += countBy(verdicts).maybe
  }
  expect(stored).toBeGreaterThan(0)
  expect(doubtful).toBeGreaterThan(0)
})
