import { errorTable } from '@plant-store/contract'
import { describe, expect, test } from 'vitest'
import { appliedByError, nextApplied } from '../src/applied.ts'
import { type Applied, createPlantStoreClient, type PlantStoreError } from '../src/index.ts'
import {
  apiError,
  createFakeFetch,
  type FakeReply,
  fetchFailed,
  replyJson,
  type SentRequest,
} from './fake-fetch.ts'

const FERN = { id: 7, name: 'Fern' }
const baseUrl = 'http://127.0.0.1:3000'

/** The error of a call whose attempts get these replies in turn. */
async function errorOf(...replies: readonly FakeReply[]): Promise<PlantStoreError> {
  const { fetch, sent } = createFakeFetch((request, attempt) => {
    const reply = replies[attempt - 1]
    if (reply === undefined) throw new Error('one request too many')
    return reply(request, attempt)
  })
  const options = { baseUrl, token: () => 'token', fetch, maxRetries: replies.length - 1 }
  const result = await createPlantStoreClient(options).tryCreatePlant(FERN)
  if (result.ok) throw new Error('it was stored')
  expect(result.error.attempts).toBe(sent.length)
  expect(sent).toHaveLength(replies.length)
  return result.error
}

const refuse =
  (status: number, error: number): FakeReply =>
  () =>
    replyJson(status, { error, message: '' })
const lose: FakeReply = () => Promise.reject(fetchFailed('ECONNRESET', 'read'))
const refuseConnection: FakeReply = () => Promise.reject(fetchFailed('ECONNREFUSED', 'connect'))
/** By these it is known that the server replies this request. */
const ofServer = (headers: SentRequest['headers']) => ({
  'content-type': 'application/json',
  'x-request-id': headers['x-request-id'] ?? '',
})
const echo =
  (status: number, body: string): FakeReply =>
  ({ headers }) =>
    new Response(body, { status, headers: ofServer(headers) })

describe('an Error reply', () => {
  const rows = Object.entries(errorTable).map(([name, { status, code }]) => {
    return [name, status, code, name === 'outcome_unknown' ? 'maybe' : 'no'] as const
  })

  test.each<readonly [string, number, number, Applied]>([
    ...rows,
    ['a 400 of a later version', 400, 40099, 'no'],
    ['a 409 of a later version', 409, 40900, 'no'],
    ['a 503 of a later version', 503, 50399, 'no'],
    ['a 500 of a later version', 500, 50002, 'maybe'],
    ['a 502 of a later version', 502, 50200, 'maybe'],
    ['a number that does not fit its status', 400, 50001, 'maybe'],
    ["a gateway's own number", 503, 503, 'maybe'],
    ['the number of a refusal with status 500', 500, 40003, 'maybe'],
    ['a redirect', 307, 30700, 'maybe'],
    ['a server that says it is the wrong one', 421, 42100, 'maybe'],
  ])('%s: %i, %i: %s', (_name, status, error, applied) => {
    expect(appliedByError(status, error, true)).toBe(applied)
  })

  test.each<readonly [number, number, Applied]>([
    [400, 40002, 'no'],
    [413, 41300, 'no'],
    [415, 41500, 'no'],
    [401, 40101, 'maybe'],
    [404, 40400, 'maybe'],
    [408, 40800, 'maybe'],
    [409, 40900, 'maybe'],
    [425, 42500, 'maybe'],
    [429, 42900, 'maybe'],
    [431, 43100, 'maybe'],
    [500, 50000, 'maybe'],
    [503, 50300, 'maybe'],
  ])('%i, %i where two may have been sent: %s', (status, error, applied) => {
    expect(appliedByError(status, error, false)).toBe(applied)
  })

  test.each<readonly [number, number, string, boolean]>([
    [400, 40000, 'rejected', false],
    [400, 40002, 'invalid_plant', false],
    [400, 40003, 'conflict', false],
    [401, 40101, 'unauthorized', false],
    [403, 40300, 'forbidden', false],
    [404, 40400, 'not_found', false],
    [408, 40800, 'unexpected_status', true],
    [409, 40900, 'conflict', false],
    [413, 41300, 'too_large', false],
    [425, 42500, 'unexpected_status', true],
    [429, 42900, 'rate_limited', true],
    [500, 50001, 'server_error', true],
    [501, 50100, 'server_error', false],
    [503, 50300, 'server_error', true],
    [307, 30700, 'unexpected_status', false],
  ])('%i, %i is %s, worth another call: %s', (status, error, code, retryable) => {
    expect(apiError(status, error)).toMatchObject({ code, retryable })
  })
})

describe('a reply that is not one of the contract', () => {
  test.each<[string, FakeReply, Applied]>([
    ['a page with status 200', () => new Response('<p>sign in'), 'maybe'],
    ['a 503 without an Error', () => new Response('', { status: 503 }), 'maybe'],
    ['a 404 without an Error', () => new Response('', { status: 404 }), 'maybe'],
    ['a 201', () => replyJson(201, { name: 'Fern' }), 'maybe'],
    ['a 204, which has no body', () => new Response(null, { status: 204 }), 'maybe'],
    ['JSON with status 200 that the server never gives', echo(200, '{"nome":"Fern"}'), 'maybe'],
    [
      'a page with status 200 that repeats the id of the request',
      ({ headers }) =>
        new Response('<p>', { headers: { ...ofServer(headers), 'content-type': 'text/html' } }),
      'maybe',
    ],
    [
      'half a JSON with status 200 that repeats no id',
      () => new Response('{"name":', { headers: { 'content-type': 'application/json' } }),
      'maybe',
    ],
    ['a 200 of the server that is cut', echo(200, '{"name":"Fe'), 'yes'],
    ['a 502 that repeats the id of the request', echo(502, ''), 'maybe'],
  ])('%s: %s', async (_name, reply, applied) => {
    expect(await errorOf(reply)).toMatchObject({ code: 'unexpected_response', applied })
  })

  test('a body that is lost after the 200 of the server leaves the plant stored', async () => {
    const reply: FakeReply = ({ headers }) => {
      const body = new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode('{"name":"F')),
        pull: (controller) => controller.error(fetchFailed('ECONNRESET', 'read')),
      })
      return new Response(body, { headers: ofServer(headers) })
    }
    expect(await errorOf(reply)).toMatchObject({ code: 'connection_lost', applied: 'yes' })
    expect(await errorOf(reply, refuseConnection)).toMatchObject({ applied: 'yes' })
  })
})

describe('after several attempts', () => {
  test.each<[string, readonly FakeReply[], Applied, string]>([
    // A fetch of the caller's may have sent more than it was asked to.
    ['two refused connections', [refuseConnection, refuseConnection], 'maybe', 'connection_failed'],
    ['refused, then lost', [refuseConnection, lose], 'maybe', 'connection_lost'],
    ['lost, then refused', [lose, refuseConnection], 'maybe', 'connection_failed'],
    ['lost, then 503', [lose, refuse(503, 50300)], 'maybe', 'server_error'],
    ['lost, then 413', [lose, refuse(413, 41300)], 'maybe', 'too_large'],
    ['lost, then refused as no plant', [lose, refuse(400, 40002)], 'maybe', 'invalid_plant'],
    ['lost, then taken by another plant', [lose, refuse(400, 40003)], 'no', 'conflict'],
    [
      'unknown, then taken by another plant',
      [refuse(500, 50001), refuse(400, 40003)],
      'no',
      'conflict',
    ],
    ['503, then 500 internal', [refuse(503, 50300), refuse(500, 50000)], 'maybe', 'server_error'],
    [
      'lost, then 401, then 401',
      [lose, refuse(401, 40101), refuse(401, 40101)],
      'maybe',
      'unauthorized',
    ],
  ])('%s: %s', async (_name, replies, applied, code) => {
    expect(await errorOf(...replies)).toMatchObject({ applied, code })
  })

  test('a plant stored in the end is stored', async () => {
    const replies = [lose, refuse(503, 50300), () => replyJson(200, { name: 'Fern' })] as const
    const { fetch } = createFakeFetch(
      (request, attempt) => replies[attempt - 1]?.(request, attempt) as Response,
    )
    const client = createPlantStoreClient({ baseUrl, token: 'token', fetch })
    const { ok, meta } = await client.tryCreatePlant(FERN)
    expect([ok, meta.attempts]).toEqual([true, 3])
  })

  test.each<[Applied, Applied, Applied]>([
    ['no', 'no', 'no'],
    ['no', 'maybe', 'maybe'],
    ['no', 'yes', 'yes'],
    ['maybe', 'no', 'maybe'],
    ['maybe', 'maybe', 'maybe'],
    ['maybe', 'yes', 'yes'],
    ['yes', 'no', 'yes'],
    ['yes', 'maybe', 'yes'],
    ['yes', 'yes', 'yes'],
  ])('%s, then %s: %s', (before, applied, expected) => {
    expect(nextApplied(before, { applied } as PlantStoreError)).toBe(expected)
  })

  test('only a number that fits its status proves that an id is taken', () => {
    expect(nextApplied('maybe', apiError(500, 40003, { applied: 'maybe' }))).toBe('maybe')
  })
})
