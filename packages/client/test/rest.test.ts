import { describe, expect, test } from 'vitest'
import { createPlantStoreClient, PlantStoreError } from '../src/index.ts'
import { createRestClient } from '../src/rest.ts'
import {
  createFakeClient,
  FERN,
  given,
  hang,
  lose,
  page,
  type Responder,
  refuse,
  respondFern,
  respondJson,
} from './fakes.ts'

type Request = Parameters<ReturnType<typeof createRestClient>['createPlant']>[0]

/** Makes a call whose requests get these responses in turn. */
function create(responders: Responder | readonly Responder[], more: Partial<Request> = {}) {
  const { fetch, sent } = createFakeClient(responders)
  const baseUrl = 'http://127.0.0.1:3000/garden//'
  const rest = createRestClient({ ...given, baseUrl, fetch, maxRetries: 1 })
  return { sent, call: rest.createPlant({ body: FERN, ...more } as Request) }
}

describe('every response of the contract is a value', () => {
  test('200 with its Plant and headers', async () => {
    const stored = respondJson(200, { name: 'Fern' }, { 'x-request-id': 'r-1' })
    const { sent, call } = create(stored, { body: { id: 2n ** 63n - 1n, name: 'Fern' } })
    const response = await call
    expect(response).toMatchObject({ status: 200, body: { name: 'Fern' }, applied: 'yes' })
    expect(response.headers.get('x-request-id')).toBe('r-1')
    expect(sent).toMatchObject([
      {
        url: 'http://127.0.0.1:3000/garden/plants',
        headers: { authorization: 'Bearer token', 'content-type': 'application/json' },
        body: '{"id":9223372036854775807,"name":"Fern"}',
        redirect: 'manual',
      },
    ])
  })

  test.each([400, 401, 413, 429, 500, 503])('%i with its Error', async (status) => {
    const body = { error: status * 100, message: 'no' }
    expect(await create(refuse(status * 100)).call).toMatchObject({ status, body })
  })

  test('a refusal, which says whether the plant was stored by an earlier request', async () => {
    expect(await create(refuse(41300)).call).toMatchObject({ applied: 'no' })
    expect(await create([lose, refuse(41300)]).call).toMatchObject({ applied: 'maybe' })
  })
})

test.each<[string, Responder, object]>([
  ['an undeclared status', refuse(40900), { code: 'conflict', status: 409, attempts: 1 }],
  ['a page', page(), { code: 'unexpected_response', applied: 'maybe' }],
  ['a lost connection', lose, { code: 'connection_lost', applied: 'maybe', attempts: 2 }],
])('what is no response of the contract is thrown: %s', async (_what, respond, error) => {
  const { call } = create(respond)
  await expect(call).rejects.toThrow(PlantStoreError)
  await expect(call).rejects.toMatchObject(error)
})

describe('a call', () => {
  test('takes its own retries, headers and signal', async () => {
    const { sent, call } = create(refuse(50300), {
      maxRetries: 0,
      extraHeaders: { 'X-Garden': 'north' },
    })
    expect((await call).status).toBe(503)
    expect(sent).toMatchObject([{ headers: { 'x-garden': 'north' } }])
    const ended = create(hang, { fetchOptions: { signal: AbortSignal.timeout(10) } })
    await expect(ended.call).rejects.toMatchObject({ code: 'aborted', applied: 'maybe' })
  })

  test.each<[string, object, string]>([
    ['no plant', { body: undefined }, 'invalid_plant'],
    ['half a plant', { body: { id: 7 } }, 'invalid_plant'],
    ['a time of 0', { timeoutMs: 0 }, 'invalid_option'],
    ['another token', { extraHeaders: { Authorization: 'x' } }, 'invalid_option'],
    ['a cache', { fetchOptions: { cache: 'no-store' } }, 'invalid_option'],
    ['another server', { overrideClientOptions: { baseUrl: 'http://a' } }, 'invalid_option'],
  ])('with %s is refused before anything is sent', async (_what, more, code) => {
    const { sent, call } = create(respondFern, more)
    await expect(call).rejects.toMatchObject({ code, applied: 'no' })
    expect(sent).toEqual([])
  })
})

test('the options of the client are checked at once, and it cannot be changed', async () => {
  expect(() => createRestClient({ baseUrl: 'plants', token: 't' })).toThrow('baseUrl must be')
  const rest = createRestClient(given)
  expect([rest, createPlantStoreClient(given)].map(Object.isFrozen)).toEqual([true, true])
  const code = 'invalid_plant'
  await expect(rest.createPlant(undefined as never)).rejects.toMatchObject({ code })
})
