import { expect, test } from 'vitest'
import {
  createPlantStoreClient,
  type PlantStoreClientOptions,
  type PlantStoreEvent,
} from '../src/index.ts'
import { createFakeFetch, type FakeReply, fetchFailed, replyFern, replyJson } from './fake-fetch.ts'

/** What the server says of a body that is never a plant, once it has taken the token. */
const refuseBody: FakeReply = () => replyJson(400, { error: 40002, message: 'id: is required' })

function checkToken(reply: FakeReply, options: PlantStoreClientOptions = {}) {
  const { fetch, sent } = createFakeFetch(reply)
  const given = { baseUrl: 'http://127.0.0.1:3000', token: 'token', fetch, maxRetries: 1 }
  const client = createPlantStoreClient({ ...given, ...options })
  return { sent, checked: client.checkToken({ requestId: 'check-1' }) }
}

test('a token that the server takes is checked in one request, and no failure is reported', async () => {
  const events: PlantStoreEvent[] = []
  const onEvent = (event: PlantStoreEvent) => events.push(event)
  const { checked, sent } = checkToken(refuseBody, { onEvent })
  expect(await checked).toBeUndefined()
  expect(sent).toMatchObject([{ body: '{}' }])
  expect(events).toMatchObject([
    { type: 'request', requestId: 'check-1' },
    { type: 'response', status: 400 },
  ])
})

test('a function gives another token where the first is refused', async () => {
  const reply: FakeReply = (request, attempt) =>
    request.headers.authorization === 'Bearer fresh'
      ? refuseBody(request, attempt)
      : replyJson(401, { error: 40101, message: 'no' })
  const { checked, sent } = checkToken(reply, {
    token: ({ refresh }) => (refresh ? 'fresh' : 'old'),
  })
  await checked
  expect(sent).toHaveLength(2)
})

test.each<[string, FakeReply, string, number]>([
  ['refuses the token', () => replyJson(401, { error: 40101, message: '' }), 'unauthorized', 1],
  ['is gone', () => Promise.reject(fetchFailed('ECONNRESET', 'read')), 'connection_lost', 2],
  ['repeats the request', ({ body }) => new Response(body), 'unexpected_response', 1],
  ['says 200 with a plant', replyFern, 'unexpected_response', 1],
  ['refuses something else', () => replyJson(400, { error: 40000, message: '' }), 'rejected', 1],
  [
    'refuses it with another status',
    () => replyJson(422, { error: 40002, message: '' }),
    'invalid_plant',
    1,
  ],
  ['is a page', () => new Response('<p>', { status: 404 }), 'unexpected_response', 1],
])(
  'a server that %s has not taken it, and nothing is stored',
  async (_what, reply, code, attempts) => {
    await expect(checkToken(reply).checked).rejects.toMatchObject({ code, applied: 'no', attempts })
  },
)
