import { once } from 'node:events'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import {
  createPlantStoreClient,
  type Plant,
  PlantStoreAbortError,
  PlantStoreConnectionError,
  PlantStoreError,
  PlantStoreResponseError,
} from '../src/index.ts'
import { type Reply, replyWith, startReplyingServer } from './replying-server.ts'

const FERN = { id: 7, name: 'Fern' }
const token = 'plant_secret'

/** What a call ends in, given the server's reply. */
async function outcomeOf(reply: Reply, signal?: AbortSignal, plant: Plant = FERN) {
  await using server = await startReplyingServer(reply)
  const client = createPlantStoreClient({ baseUrl: server.url, token })
  const outcome = await client
    .createPlant({ ...plant, id: 7 }, { signal, maxRetries: 0 })
    .catch((error: unknown) => error)
  expect(server.received).toHaveLength(1)
  return outcome
}

describe('a reply with status 200', () => {
  test.each([{ name: 'Fern' }, { name: 'Fern', tag: 'shade' }, { name: '', tag: '' }])(
    'and the Plant %o is that Plant',
    async (plant) => {
      expect(await outcomeOf(replyWith(200, plant), undefined, plant)).toStrictEqual(plant)
    },
  )

  test('may have members of a later version, which are dropped', async () => {
    const plant = { name: 'Fern', colour: 'green', id: 7 }
    expect(await outcomeOf(replyWith(200, plant))).toStrictEqual({ name: 'Fern' })
  })

  test('is read as JSON whatever its media type says', async () => {
    const reply = replyWith(200, { name: 'Fern' }, { 'content-type': 'text/plain' })
    expect(await outcomeOf(reply)).toStrictEqual({ name: 'Fern' })
  })
})

describe('a reply that the contract does not know is a PlantStoreResponseError', () => {
  const html = '<!doctype html><title>Welcome</title>'

  test.each<[string, number, unknown]>([
    ['200 with a page', 200, html],
    ['200 with nothing', 200, ''],
    ['200 with half a Plant', 200, '{"name":"Fe'],
    ['200 with an Error', 200, { error: 40003, message: 'taken' }],
    ['200 with a Plant without a name', 200, { tag: 'shade' }],
    ['200 with a tag of null', 200, { name: 'Fern', tag: null }],
    ['200 with an array', 200, [{ name: 'Fern' }]],
    ['201 with a Plant', 201, { name: 'Fern' }],
    ['204 with nothing', 204, ''],
    ['302 to another place', 302, ''],
    ['400 with a Plant', 400, { name: 'Fern' }],
    ['400 with an error in a string', 400, { error: '40003', message: 'taken' }],
    ['502 with a page', 502, html],
    ['503 with nothing', 503, ''],
  ])('%s', async (_what, status, body) => {
    const outcome = await outcomeOf(replyWith(status, body, { location: '/elsewhere' }))
    expect(outcome).toBeInstanceOf(PlantStoreResponseError)
    expect(outcome).toMatchObject({ status })
  })

  test('200 with bytes that are not UTF-8', async () => {
    const outcome = await outcomeOf((response) => {
      response.end(Buffer.from('{"name":"Foug\xe8re"}', 'latin1'))
    })
    expect(outcome).toBeInstanceOf(PlantStoreResponseError)
  })

  test('a redirect is not followed', async () => {
    await using elsewhere = await startReplyingServer(replyWith(200, { name: 'Fern' }))
    await outcomeOf(replyWith(307, '', { location: `${elsewhere.url}/plants` }))
    expect(elsewhere.received).toEqual([])
  })
})

describe('where no whole reply arrives, an error', () => {
  test('names a refused connection, with the host and the cause', async () => {
    const server = await startReplyingServer(replyWith(200, {}))
    await server[Symbol.asyncDispose]()
    const client = createPlantStoreClient({ baseUrl: server.url, token, maxRetries: 0 })
    const call = client.createPlant(FERN)
    await expect(call).rejects.toThrow(PlantStoreConnectionError)
    await expect(call).rejects.toThrow(new URL(server.url).host)
    await expect(call).rejects.toMatchObject({
      code: 'connection_failed',
      reason: 'ECONNREFUSED',
      applied: 'no',
      attempts: 1,
      cause: { code: 'ECONNREFUSED' },
    })
  })

  test('names a connection that ends without a reply', async () => {
    const outcome = await outcomeOf((response) => response.socket?.destroy())
    expect(outcome).toBeInstanceOf(PlantStoreConnectionError)
  })

  test('names a reply that ends before its body does', async () => {
    const outcome = await outcomeOf((response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('{"name":', () => response.socket?.destroy())
    })
    expect(outcome).toBeInstanceOf(PlantStoreConnectionError)
  })

  test('names a call that its caller aborted, with the reason', async () => {
    const controller = new AbortController()
    const outcome = await outcomeOf(() => controller.abort(new Error('winter')), controller.signal)
    expect(outcome).toBeInstanceOf(PlantStoreAbortError)
    expect(outcome).toMatchObject({ cause: { message: 'winter' }, applied: 'maybe' })
  })

  test('names an abort in the middle of the reply', async () => {
    const controller = new AbortController()
    const outcome = await outcomeOf(async (response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('{"name":')
      controller.abort()
      await once(response, 'close')
    }, controller.signal)
    expect(outcome).toBeInstanceOf(PlantStoreAbortError)
  })

  test('names an abort before the call, and nothing is sent', async () => {
    await using server = await startReplyingServer(replyWith(200, { name: 'Fern' }))
    const client = createPlantStoreClient({ baseUrl: server.url, token })
    const call = client.createPlant(FERN, { signal: AbortSignal.abort() })
    await expect(call).rejects.toMatchObject({ code: 'aborted', applied: 'no', attempts: 0 })
    expect(server.received).toEqual([])
  })
})

describe('what is thrown', () => {
  const failures: [string, Reply][] = [
    ['an Error', replyWith(400, { error: 40003, message: 'taken' })],
    ['a page', replyWith(502, '<html>')],
    ['a lost connection', (response) => response.socket?.destroy()],
  ]

  test.each(failures)(
    'for %s is a PlantStoreError with a name of its own',
    async (_what, reply) => {
      const outcome = await outcomeOf(reply)
      expect(outcome).toBeInstanceOf(PlantStoreError)
      expect((outcome as Error).name).toBe((outcome as Error).constructor.name)
    },
  )

  test.each(failures)('for %s does not show the token', async (_what, reply) => {
    expect(inspect(await outcomeOf(reply), { depth: 10 })).not.toContain(token)
  })

  test('for a token that no header can hold does not show it', async () => {
    const options = { baseUrl: 'http://127.0.0.1:9', token: 'plant\nsecret' }
    const create = async () => createPlantStoreClient(options).createPlant(FERN)
    const thrown = await create().catch((error: unknown) => error)
    expect(thrown).toBeInstanceOf(PlantStoreError)
    expect(inspect(thrown, { depth: 10 })).not.toContain('secret')
  })

  test('is not needed to see that the client shows no token', () => {
    const client = createPlantStoreClient({ baseUrl: 'http://127.0.0.1:9', token })
    expect(inspect(client, { depth: 10, showHidden: true })).not.toContain(token)
  })
})
