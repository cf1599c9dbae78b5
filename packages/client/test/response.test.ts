import { errorTable } from '@plant-store/contract'
import { describe, expect, test } from 'vitest'
import { appliedByError, appliedByPart, nextApplied } from '../src/applied.ts'
import type { Applied, PlantStoreError } from '../src/index.ts'
import { readBody } from '../src/response.ts'
import {
  createFakeClient,
  type FakeReply,
  FERN,
  lose,
  page,
  refuse,
  refuseConnection,
  replyFern,
  replyJson,
} from './fakes.ts'

/** The error of a call whose attempts get these replies in turn. */
async function errorOf(...replies: readonly FakeReply[]): Promise<PlantStoreError> {
  const options = { token: () => 'token', maxRetries: replies.length - 1 }
  const { sent, tryCreatePlant } = createFakeClient(replies, options)
  const result = await tryCreatePlant(FERN)
  if (result.ok) throw new Error('it was stored')
  expect([result.error.attempts, sent.length]).toEqual(Array(2).fill(replies.length))
  return result.error
}

/** By these headers it is known that the server replies to this request. */
const ofServer =
  (status: number, body: BodyInit, type = 'application/json'): FakeReply =>
  ({ headers }) => {
    const named = { 'content-type': type, 'x-request-id': headers['x-request-id'] ?? '' }
    return new Response(body, { status, headers: named })
  }
describe('the body of a reply', () => {
  const going = new AbortController().signal

  /** A body of these chunks, which notes whether it was cancelled; without an end where it is endless. */
  function createBody(chunks: readonly string[], isEndless = false) {
    const noted = { isCancelled: false }
    const left = chunks.map((chunk) => new TextEncoder().encode(chunk))
    const stream = new ReadableStream({
      pull(controller) {
        const chunk = left.shift()
        if (chunk !== undefined) controller.enqueue(chunk)
        else if (!isEndless) controller.close()
      },
      cancel() {
        noted.isCancelled = true
      },
    })
    return { noted, response: new Response(stream) }
  }

  test.each<[string, string[], boolean, AbortSignal, string, boolean]>([
    [
      'is left where it is longer than its limit',
      ['0123', 'a', 'b', 'c'],
      true,
      going,
      '0123a',
      true,
    ],
    ['is read to its end', ['Fe', 'rn'], false, going, 'Fern', false],
    ['is cancelled where its time was over before', [], true, AbortSignal.abort(), '', true],
  ])('%s', async (_what, chunks, isEndless, signal, text, isCancelled) => {
    const { noted, response } = createBody(chunks, isEndless)
    const body = { text: '' }
    await readBody(response, 4, signal, body)
    expect([body.text, noted.isCancelled]).toEqual([text, isCancelled])
  })

  test('is read as a whole where it is no stream of the web, as in node-fetch', async () => {
    const body = { text: '' }
    const response = { body: { on() {} }, arrayBuffer: async () => new Uint8Array([70]).buffer }
    await readBody(response as unknown as Response, 10, going, body)
    expect(body.text).toBe('F')
  })

  test('may repeat a long name with six bytes for each of its characters', async () => {
    const name = 'A'.repeat(50_000)
    const escaped = Array.from({ length: 50 }, () => '\\u0041'.repeat(1_000))
    const { response } = createBody(['{"name":"', ...escaped, '"}'])
    const { createPlant } = createFakeClient(() => response)
    expect(await createPlant({ id: 7, name })).toEqual({ name })
  })

  test('without an end is not read', async () => {
    let pulled = 0
    const pull = (controller: ReadableStreamDefaultController) => {
      pulled++
      controller.enqueue(new Uint8Array(10_000).fill(32))
    }
    const reply = () => new Response(new ReadableStream({ pull }))
    expect((await errorOf(reply)).code).toBe('unexpected_response')
    expect(pulled).toBeLessThan(12)
  })
})

describe('a 200', () => {
  const shade = { id: 7, name: 'Fern', tag: 'shade' }

  test.each([
    ['another name', { name: 'Moss', tag: 'shade' }, 'name is not what was sent'],
    ['another tag', { name: 'Fern', tag: 'sun' }, 'tag is not what was sent'],
    ['no tag', { name: 'Fern' }, 'tag is not what was sent'],
    ['another plant and more', { name: 'x', a: 1 }, 'name is not what was sent; tag is'],
    ['no plant', { tag: 5 }, ': name is required; tag must be a string'],
  ])('with %s is not that of the plant', async (_what, plant, problem) => {
    const { createPlant } = createFakeClient(() => replyJson(200, plant))
    const error = { code: 'unexpected_response', applied: 'maybe' }
    await expect(createPlant(shade)).rejects.toMatchObject(error)
    await expect(createPlant(shade)).rejects.toThrow(problem)
  })

  test.each([
    ['more members', { ...shade, stored: '2030-01-01', id: '7' }, {}],
    ['its id, as the request has it, from the server', shade, { 'x-request-id': 'r-1' }],
  ])('with %s is that of the plant', async (_what, plant, headers) => {
    const { createPlant } = createFakeClient(() => replyJson(200, plant, headers))
    expect(await createPlant(shade)).toEqual({ name: 'Fern', tag: 'shade' })
  })

  test.each<[string, FakeReply]>([
    ['the body', ({ body }) => new Response(body)],
    ['the body in other words', ({ body }) => new Response(body.replaceAll(',', ' ,\n'))],
    ['body and headers', ({ body, headers }) => new Response(body, { headers: { ...headers } })],
  ])('that repeats %s of the request is an echo', async (_what, reply) => {
    const error = await errorOf(reply)
    expect(error).toMatchObject({ code: 'unexpected_response', applied: 'maybe' })
    expect(error.message).toContain('it is an echo of the request')
  })
})

describe('a reply that is not one of the contract', () => {
  const NONE = "is not one of the plant store's:"
  const HOST = 'the response of 127.0.0.1:3000'

  test.each<[string, FakeReply, string]>([
    [
      'an Error for a path that is not there names the address',
      refuse(40400),
      'the plant store answered 404 for http://127.0.0.1:3000/plants: no (40400)',
    ],
    [
      'so does a page',
      page(404),
      `the response of http://127.0.0.1:3000/plants with status 404 ${NONE} the body is not valid JSON`,
    ],
    [
      'a redirect names where it leads',
      page(302, '', { location: '/sign-in' }),
      `${HOST} with status 302 ${NONE} it is a redirect to /sign-in, which is not followed`,
    ],
    [
      'or that it leads nowhere',
      page(399),
      `${HOST} with status 399 ${NONE} it is a redirect, which is not followed`,
    ],
    [
      'a proxy is named',
      page(407),
      `${HOST} with status 407 ${NONE} a proxy requires authentication`,
    ],
  ])('%s', async (_what, reply, message) => {
    expect(await errorOf(reply)).toMatchObject({ message })
  })

  test('is quoted with 80 characters, its media type, and what is wrong with it', async () => {
    const nome = 'F'.repeat(200)
    expect(await errorOf(() => replyJson(200, { nome }))).toMatchObject({
      snippet: `{"nome":"${'F'.repeat(71)}`,
      contentType: 'text/plain;charset=UTF-8',
      issues: [{ path: ['name'], message: 'is required' }],
      message: `${HOST} with status 200 ${NONE} name is required`,
    })
    const empty = { contentType: '', snippet: '' }
    expect(await errorOf(() => new Response(null, { status: 204 }))).toMatchObject(empty)
  })

  test.each<[string, FakeReply]>([
    ['a page with status 200', page(200)],
    ['a 503 without an Error', page(503)],
    ['a 404 without an Error', page(404)],
    ['a 201', () => replyJson(201, { name: 'Fern' })],
    ['JSON with status 200 that the server never gives', ofServer(200, '{"nome":"Fern"}')],
    ['a page under the id of the request', ofServer(200, '<p>', 'text/html')],
    ['a 502 under the id of the request', ofServer(502, '')],
    ['the beginning of the plant as a whole body', ofServer(200, '{"name":"Fe')],
  ])('leaves it open whether the plant is stored: %s', async (_name, reply) => {
    expect(await errorOf(reply)).toMatchObject({ code: 'unexpected_response', applied: 'maybe' })
  })
})

describe('a response that broke off', () => {
  const requestId = 'r-1'
  const own = { 'x-request-id': requestId }
  const json = { ...own, 'content-type': 'application/json' }
  const utf8 = { ...own, 'content-type': 'application/json; charset=utf-8' }

  test.each<[string, number, Record<string, string>, string, Applied]>([
    ['a plant', 200, json, '{"name":"Fe', 'yes'],
    ['a plant in UTF-8', 200, utf8, '{"name":', 'yes'],
    ['the whole plant', 200, json, '{"name":"Fern"}', 'yes'],
    ['an echo of the request', 200, json, '{"id":7,"name":"Fe', 'maybe'],
    ['what may be an echo', 200, json, '{"', 'maybe'],
    ['nothing', 200, json, '', 'maybe'],
    ['no media type', 200, own, '{"name":', 'maybe'],
    ['another one', 200, { ...own, 'content-type': 'text/html' }, '{"name":', 'maybe'],
    ['no id', 200, { 'content-type': 'application/json' }, '{"name":', 'maybe'],
    ['the id of another', 200, { ...json, 'x-request-id': 'r-2' }, '{"name":', 'maybe'],
    ['another status', 201, json, '{"name":', 'maybe'],
    ["a gateway's error", 200, json, '{"name":"NotAuthorised","mess', 'maybe'],
    ['what only begins as it', 200, json, '{"name":Gateway', 'maybe'],
    ['more than the plant', 200, json, '{"name":"Fern"}{', 'maybe'],
  ])('with %s: %i %o %s: %s', (_what, status, headers, body, applied) => {
    const head = { status, headers: new Headers(headers) }
    const plant = { id: 7n, name: 'Fern' }
    expect(appliedByPart(head, body, { plant, requestId })).toBe(applied)
    expect(appliedByPart(undefined, body, { plant, requestId })).toBe('maybe')
    expect(appliedByPart(head, body, { plant: undefined, requestId })).toBe('maybe')
  })

  test('after the 200 of the server leaves the plant stored, whatever comes later', async () => {
    const body = () =>
      new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode('{"name":"F')),
        pull: (controller) => controller.error(new Error('gone')),
      })
    const reply: FakeReply = (...request) => ofServer(200, body())(...request)
    expect(await errorOf(reply)).toMatchObject({ code: 'connection_lost', applied: 'yes' })
    expect(await errorOf(reply, refuseConnection)).toMatchObject({ applied: 'yes' })
  })
})

describe('an Error reply', () => {
  const rows = Object.values(errorTable).map(({ status, code, stored }) => {
    return [status, code, stored] as const
  })

  test.each<readonly [number, number, Applied]>([
    ...rows,
    // Numbers of a later version.
    [400, 40099, 'no'],
    [409, 40900, 'no'],
    [503, 50399, 'no'],
    [500, 50002, 'maybe'],
    [502, 50200, 'maybe'],
    // A number that does not fit its status, that of a gateway, a redirect, and a wrong server.
    [400, 50001, 'maybe'],
    [500, 40003, 'maybe'],
    [503, 503, 'maybe'],
    [307, 30700, 'maybe'],
    [421, 42100, 'maybe'],
  ])('%i, %i: %s', (status, error, applied) => {
    expect(appliedByError(status, error, true)).toBe(applied)
  })

  test.each([40002, 41300, 41500, 40101, 40400, 40800, 40900, 42500, 42900, 43100, 50000, 50300])(
    '%i where two may have been sent proves nothing but of what the body holds',
    (error) => {
      const status = Math.floor(error / 100)
      const applied = [400, 413, 415].includes(status) ? 'no' : 'maybe'
      expect(appliedByError(status, error, false)).toBe(applied)
    },
  )

  test.each<readonly [number, string, boolean]>([
    [40000, 'rejected', false],
    [40002, 'invalid_plant', false],
    [40003, 'conflict', false],
    [40101, 'unauthorized', false],
    [40300, 'forbidden', false],
    [40400, 'not_found', false],
    [40800, 'unexpected_status', true],
    [40900, 'conflict', false],
    [41300, 'too_large', false],
    [42500, 'unexpected_status', true],
    [42900, 'rate_limited', true],
    [50001, 'server_error', true],
    [50100, 'server_error', false],
    [50300, 'server_error', true],
    [30700, 'unexpected_status', false],
  ])('%i is %s, worth another call: %s', async (error, code, retryable) => {
    const { tryCreatePlant } = createFakeClient(refuse(error), { maxRetries: 0 })
    expect(await tryCreatePlant(FERN)).toMatchObject({ error: { code, retryable } })
  })
})

describe('after several attempts', () => {
  test.each<[string, readonly FakeReply[], Applied, string]>([
    // A fetch of the caller's may have sent more than it was asked to.
    ['two refused connections', [refuseConnection, refuseConnection], 'maybe', 'connection_failed'],
    ['refused, then lost', [refuseConnection, lose], 'maybe', 'connection_lost'],
    ['lost, then refused', [lose, refuseConnection], 'maybe', 'connection_failed'],
    ['lost, then 503', [lose, refuse(50300)], 'maybe', 'server_error'],
    ['lost, then 413', [lose, refuse(41300)], 'maybe', 'too_large'],
    ['lost, then refused as no plant', [lose, refuse(40002)], 'maybe', 'invalid_plant'],
    ['lost, then taken by another plant', [lose, refuse(40003)], 'no', 'conflict'],
    ['unknown, then taken by another plant', [refuse(50001), refuse(40003)], 'no', 'conflict'],
    ['503, then 500 internal', [refuse(50300), refuse(50000)], 'maybe', 'server_error'],
    ['lost, then 401 twice', [lose, refuse(40101), refuse(40101)], 'maybe', 'unauthorized'],
  ])('%s: %s', async (_name, replies, applied, code) => {
    expect(await errorOf(...replies)).toMatchObject({ applied, code })
  })

  test('a plant stored in the end is stored', async () => {
    const { tryCreatePlant } = createFakeClient([lose, refuse(50300), replyFern])
    expect(await tryCreatePlant(FERN)).toMatchObject({ ok: true, meta: { attempts: 3 } })
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
    // Only a number that fits its status proves that an id is taken.
    const taken = { apiName: 'id_taken', applied } as PlantStoreError
    expect(nextApplied(before, taken)).toBe(applied === 'no' ? 'no' : expected)
  })
})
