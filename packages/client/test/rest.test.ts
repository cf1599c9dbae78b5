import { describe, expect, test } from 'vitest'
import { type Applied, PlantStoreError } from '../src/index.ts'
import { createRestClient } from '../src/rest.ts'
import {
  createFakeFetch,
  type FakeReply,
  FERN,
  given,
  hang,
  lose,
  refuse,
  replyFern,
  replyJson,
} from './fakes.ts'

/** A client whose requests get these replies in turn. */
function createFakeRest(...replies: readonly FakeReply[]) {
  const { fetch, sent } = createFakeFetch((request, attempt) => {
    return replies[Math.min(attempt, replies.length) - 1]?.(request, attempt) as Response
  })
  const baseUrl = 'http://127.0.0.1:3000/garden//'
  return { sent, rest: createRestClient({ ...given, baseUrl, fetch, maxRetries: 1 }) }
}

describe('every reply of the contract is a value', () => {
  test('200 with its Plant and headers', async () => {
    const { rest, sent } = createFakeRest(() => {
      return replyJson(200, { name: 'Fern' }, { 'x-request-id': 'r-1' })
    })
    const body = { id: 2n ** 63n - 1n, name: 'Fern' }
    const reply = await rest.createPlant({ body })
    expect(reply).toMatchObject({ status: 200, body: { name: 'Fern' }, applied: 'yes' })
    expect(reply.headers.get('x-request-id')).toBe('r-1')
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
    const { rest } = createFakeRest(refuse(status * 100))
    const body = { error: status * 100, message: 'no' }
    expect(await rest.createPlant({ body: FERN })).toMatchObject({ status, body })
  })

  test.each<[string, readonly FakeReply[], Applied]>([
    ['that was not tried again', [refuse(41300)], 'no'],
    ['after a lost one', [lose, refuse(41300)], 'maybe'],
  ])('a refusal %s says whether the plant was stored', async (_what, replies, applied) => {
    const { rest, sent } = createFakeRest(...replies)
    expect(await rest.createPlant({ body: FERN })).toMatchObject({ status: 413, applied })
    expect(sent).toHaveLength(replies.length)
  })
})

describe('what is no reply of the contract is thrown', () => {
  test.each<[string, FakeReply, object]>([
    ['an undeclared status', refuse(40900), { code: 'conflict', status: 409, attempts: 1 }],
    ['a page', () => new Response('<p>'), { code: 'unexpected_response', applied: 'maybe' }],
    ['a lost connection', lose, { code: 'connection_lost', applied: 'maybe', attempts: 2 }],
  ])('%s', async (_what, reply, error) => {
    const { rest } = createFakeRest(reply)
    const call = rest.createPlant({ body: FERN })
    await expect(call).rejects.toThrow(PlantStoreError)
    await expect(call).rejects.toMatchObject(error)
  })
})

describe('a call', () => {
  test('sends exactly one request with maxRetries 0', async () => {
    const { rest, sent } = createFakeRest(refuse(50300))
    expect((await rest.createPlant({ body: FERN, maxRetries: 0 })).status).toBe(503)
    expect(sent).toHaveLength(1)
  })

  test('sends the extra headers', async () => {
    const { rest, sent } = createFakeRest(replyFern)
    await rest.createPlant({ body: FERN, extraHeaders: { 'X-Garden': 'north' } })
    expect(sent).toMatchObject([{ headers: { 'x-garden': 'north' } }])
  })

  test('ends with its signal', async () => {
    const { rest } = createFakeRest(hang)
    const signal = AbortSignal.timeout(10)
    const call = rest.createPlant({ body: FERN, fetchOptions: { signal } })
    await expect(call).rejects.toMatchObject({ code: 'aborted', applied: 'maybe' })
  })

  test.each<[string, object, string]>([
    ['no request', undefined as never, 'invalid_plant'],
    ['no plant', {}, 'invalid_plant'],
    ['half a plant', { body: { id: 7 } }, 'invalid_plant'],
    ['a time of 0', { body: FERN, timeoutMs: 0 }, 'invalid_option'],
    ['another token', { body: FERN, extraHeaders: { Authorization: 'x' } }, 'invalid_option'],
    ['a cache', { body: FERN, fetchOptions: { cache: 'no-store' } }, 'invalid_option'],
    [
      'another server',
      { body: FERN, overrideClientOptions: { baseUrl: 'http://127.0.0.1:3001' } },
      'invalid_option',
    ],
  ])('with %s is refused before anything is sent', async (_what, request, code) => {
    const { rest, sent } = createFakeRest(replyFern)
    await expect(rest.createPlant(request as never)).rejects.toMatchObject({ code, applied: 'no' })
    expect(sent).toEqual([])
  })
})

test('the options of the client are checked at once, and it cannot be changed', () => {
  expect(() => createRestClient({ baseUrl: 'plants', token: 't' })).toThrow('baseUrl must be')
  expect(Object.isFrozen(createFakeRest(replyFern).rest)).toBe(true)
})
