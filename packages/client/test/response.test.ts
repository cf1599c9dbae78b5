import { errorTable } from '@plant-store/contract'
import { describe, expect, test } from 'vitest'
import { appliedByError, appliedByPart, nextApplied } from '../src/applied.ts'
import type { Applied, PlantStoreError } from '../src/index.ts'
import { readBody } from '../src/response.ts'
import {
  breakOff,
  createFakeClient,
  lose,
  page,
  type Responder,
  refuse,
  refuseConnection,
  respondJson,
  run,
} from './fakes.ts'

/** The error of a call whose attempts get these responses in turn. */
async function errorOf(...responders: readonly Responder[]) {
  const options = { token: () => 'token', maxRetries: responders.length - 1 }
  const { error, meta, sent } = await run(responders, options)
  expect([meta.attempts, sent.length]).toEqual([responders.length, responders.length])
  return error
}

/** By these headers it is known that the server responds to this request. */
const nameOf = ({ headers }: Parameters<Responder>[0]) => ({
  'content-type': 'application/json',
  'x-request-id': headers['x-request-id'],
})
const ofServer =
  (status: number, text: string, more = {}): Responder =>
  (request) =>
    page(status, text, { ...nameOf(request), ...more })()

describe('the body of a response', () => {
  const { signal } = new AbortController()

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

  test.each<[string, string[], boolean, string]>([
    ['is left where it is longer than its limit', ['0123', 'a', 'b', 'c'], true, '0123a'],
    ['is read to its end', ['Fe', 'rn'], false, 'Fern'],
  ])('%s', async (_what, chunks, isEndless, text) => {
    const { noted, response } = createBody(chunks, isEndless)
    const body = { text: '' }
    await readBody(response, 4, signal, body)
    // Only what has an end is read to it.
    expect([body.text, noted.isCancelled]).toEqual([text, isEndless])
  })

  test('is cancelled where the call has ended, and what has come of it stays', async () => {
    const { noted, response } = createBody(['Fe'], true)
    const controller = new AbortController()
    const body = { text: '' }
    const reading = readBody(response, 4, controller.signal, body)
    await new Promise(setImmediate)
    controller.abort()
    await reading
    expect([body.text, noted.isCancelled]).toEqual(['Fe', true])
  })

  test('is read as a whole where it is no stream of the web, as in node-fetch', async () => {
    const body = { text: '' }
    const response = { body: { on() {} }, arrayBuffer: async () => new Uint8Array([70]).buffer }
    await readBody(response as unknown as Response, 10, signal, body)
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
    const { noted, response } = createBody(Array(8).fill(' '.repeat(10_000)), true)
    expect(await errorOf(() => response)).toMatchObject({ code: 'unexpected_response' })
    expect(noted.isCancelled).toBe(true)
  })
})

describe('a 200', () => {
  const shade = { id: 7, name: 'Fern', tag: 'shade' }
  const says = (plant: object, headers = {}) => respondJson(200, plant, headers)
  const ECHO = 'it is an echo of the request'

  test.each<[string, Responder, string]>([
    ['another name', says({ name: 'Moss', tag: 'shade' }), 'name is not what was sent'],
    ['another tag', says({ name: 'Fern', tag: 'sun' }), 'tag is not what was sent'],
    ['no tag', says({ name: 'Fern' }), 'tag is not what was sent'],
    ['another plant and more', says({ name: 'x', a: 1 }), 'name is not what was sent; tag is'],
    ['no plant', says({ tag: 5 }), ': name is required; tag must be a string'],
    ['the body of the request', ({ body }) => page(200, body)(), ECHO],
    ['that body in other words', ({ body }) => page(200, body.replaceAll(',', ' ,\n'))(), ECHO],
    ['its body and headers', ({ body, headers }) => page(200, body, headers)(), ECHO],
  ])('with %s is not that of the plant', async (_what, respond, problem) => {
    const message = expect.stringContaining(problem)
    const error = { code: 'unexpected_response', applied: 'maybe', message }
    await expect(createFakeClient(respond).createPlant(shade)).rejects.toMatchObject(error)
  })

  test.each([
    ['more members', says({ ...shade, stored: '2030-01-01', id: '7' })],
    ['its id, as the request has it, from the server', says(shade, { 'x-request-id': 'r-1' })],
  ])('with %s is that of the plant', async (_what, respond) => {
    const plant = await createFakeClient(respond).createPlant(shade)
    expect(plant).toEqual({ name: 'Fern', tag: 'shade' })
  })
})

describe('a response that is not one of the contract', () => {
  const HOST = '127.0.0.1:3000'
  const ADDRESS = `http://${HOST}/plants`
  const messageOf = (where: string, status: number, why: string) =>
    `the response of ${where} with status ${status} is not one of the plant store's: ${why}`

  test.each<[string, number, string, string, string?]>([
    ['a page for a wrong path', 404, ADDRESS, 'the body is not valid JSON'],
    ['a redirect', 302, HOST, 'it is a redirect to /in, which is not followed', '/in'],
    ['a redirect to nowhere', 399, HOST, 'it is a redirect, which is not followed'],
    ['that of a proxy', 407, HOST, 'a proxy requires authentication'],
  ])('is explained by its status: %s', async (_what, status, where, why, location = '') => {
    const message = messageOf(where, status, why)
    expect(await errorOf(page(status, '<p>', { location }))).toMatchObject({ message })
  })

  test('is quoted with 80 characters, and with what is wrong with it', async () => {
    const nome = 'F'.repeat(200)
    expect(await errorOf(respondJson(200, { nome }))).toMatchObject({
      snippet: `{"nome":"${'F'.repeat(71)}`,
      issues: [{ path: ['name'], message: 'is required' }],
      message: messageOf(HOST, 200, 'name is required'),
    })
    const empty = await errorOf(() => new Response(null, { status: 204 }))
    expect(empty).toMatchObject({ snippet: '' })
  })

  test.each<[string, Responder]>([
    ['a page with status 200', page(200)],
    ['a 503 without an Error', page(503)],
    ['a 404 without an Error', page(404)],
    ['a 201', respondJson(201, { name: 'Fern' })],
    ['JSON with status 200 that the server never gives', ofServer(200, '{"nome":"Fern"}')],
    ['a page under the id of the request', ofServer(200, '<p>', { 'content-type': 'text/html' })],
    ['a 502 under the id of the request', ofServer(502, '')],
    ['the beginning of the plant as a whole body', ofServer(200, '{"name":"Fe')],
  ])('leaves it open whether the plant is stored: %s', async (_name, respond) => {
    expect(await errorOf(respond)).toMatchObject({ code: 'unexpected_response', applied: 'maybe' })
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
})

describe('an Error response', () => {
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
    expect(await errorOf(refuse(error))).toMatchObject({ code, retryable })
  })

  test('of a path that is not there names the address', async () => {
    const message = 'the plant store answered 404 for http://127.0.0.1:3000/plants: no (40400)'
    expect(await errorOf(refuse(40400))).toMatchObject({ message })
  })
})

/** The begin of the one response to the plant. */
const breakOffPlant: Responder = (request) => breakOff('{"name":"F', nameOf(request))()

describe('after several attempts', () => {
  test.each<[string, readonly Responder[], Applied, string]>([
    ['lost, then 503', [lose, refuse(50300)], 'maybe', 'server_error'],
    ['lost, then refused as no plant', [lose, refuse(40002)], 'maybe', 'invalid_plant'],
    ['lost, then taken by another plant', [lose, refuse(40003)], 'no', 'conflict'],
    ['lost, then 401 twice', [lose, refuse(40101), refuse(40101)], 'maybe', 'unauthorized'],
    ['a 200 that broke off', [breakOffPlant], 'yes', 'connection_lost'],
    ['that, then refused', [breakOffPlant, refuseConnection], 'yes', 'connection_failed'],
  ])('%s: %s', async (_name, responders, applied, code) => {
    expect(await errorOf(...responders)).toMatchObject({ applied, code })
  })

  test.each<[before: Applied, ...afterNoMaybeYes: Applied[]]>([
    ['no', 'no', 'maybe', 'yes'],
    ['maybe', 'maybe', 'maybe', 'yes'],
    ['yes', 'yes', 'yes', 'yes'],
  ])('%s becomes %s by a no, %s by a maybe, %s by a yes', (before, ...expected) => {
    const attempts = (['no', 'maybe', 'yes'] as const).map((applied) => ({ applied }))
    const after = (error: object) => nextApplied(before, error as PlantStoreError)
    expect(attempts.map(after)).toEqual(expected)
    // Only a number that fits its status proves that an id is taken.
    const taken = attempts.map((error) => after({ ...error, apiName: 'id_taken' }))
    expect(taken).toEqual(['no', ...expected.slice(1)])
  })
})
