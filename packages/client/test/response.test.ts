import { describe, expect, test } from 'vitest'
import { appliedByPart } from '../src/applied.ts'
import { createPlantStoreClient } from '../src/index.ts'
import { judgeResponse, readBody } from '../src/response.ts'
import { createScrub } from '../src/scrubber.ts'
import { createFakeFetch, replyJson } from './fake-fetch.ts'

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

describe('the body of a reply', () => {
  test('is read on where it is as long as its limit, and left where it is longer', async () => {
    const { noted, response } = createBody(['0123456789', 'a', 'b'], true)
    const { bytes, isCut } = await readBody(response, 10, going, [])
    expect(new TextDecoder().decode(bytes)).toBe('0123456789a')
    expect(isCut).toBe(true)
    expect(noted.isCancelled).toBe(true)
  })

  test('is left where it ends within its limit', async () => {
    const { noted, response } = createBody(['Fe', 'rn'])
    const { bytes, isCut } = await readBody(response, 4, going, [])
    expect(new TextDecoder().decode(bytes)).toBe('Fern')
    expect(isCut).toBe(false)
    expect(noted.isCancelled).toBe(false)
  })

  test('is cancelled where its time was over before', async () => {
    const { noted, response } = createBody([], true)
    expect((await readBody(response, 10, AbortSignal.abort(), [])).bytes).toHaveLength(0)
    expect(noted.isCancelled).toBe(true)
  })

  test('is read as a whole where it is no stream of the web, as in node-fetch', async () => {
    const response = { body: { on() {} }, arrayBuffer: async () => new Uint8Array([7]).buffer }
    expect(await readBody(response as unknown as Response, 10, going, [])).toEqual({
      bytes: new Uint8Array([7]),
      isCut: false,
    })
  })

  test('may repeat a long name with six bytes for each of its characters', async () => {
    const name = 'A'.repeat(50_000)
    const escaped = Array.from({ length: 50 }, () => '\\u0041'.repeat(1_000))
    const { response } = createBody(['{"name":"', ...escaped, '"}'])
    const { fetch } = createFakeFetch(() => response)
    const client = createPlantStoreClient({ baseUrl: 'http://127.0.0.1:3000', token: 't', fetch })
    expect(await client.createPlant({ id: 7, name })).toEqual({ name })
  })
})

describe('a response that broke off', () => {
  const requestId = 'r-1'
  const expected = () => '{"name":"Fern"}'
  const own = { 'x-request-id': requestId }

  const json = { ...own, 'content-type': 'application/json' }

  test.each<[string, number, Record<string, string>, string, string]>([
    ['a plant', 200, json, '{"name":"Fe', 'yes'],
    [
      'a plant in UTF-8',
      200,
      { ...json, 'content-type': 'application/json; charset=utf-8' },
      '{"name":',
      'yes',
    ],
    ['an echo of the request', 200, json, '{"id":7,"name":"Fe', 'maybe'],
    ['what may be an echo', 200, json, '{"', 'maybe'],
    ['nothing', 200, json, '', 'maybe'],
    ['no media type', 200, own, '{"name":', 'maybe'],
    ['another one', 200, { ...own, 'content-type': 'text/html' }, '{"name":', 'maybe'],
    ['no id', 200, { 'content-type': 'application/json' }, '{"name":', 'maybe'],
    ['the id of another', 200, { ...json, 'x-request-id': 'r-2' }, '{"name":', 'maybe'],
    ['another status', 201, json, '{"name":', 'maybe'],
    ['the whole plant', 200, json, '{"name":"Fern"}', 'yes'],
    ["a gateway's error", 200, json, '{"name":"NotAuthorised","mess', 'maybe'],
    ['what only begins as it', 200, json, '{"name":Gateway', 'maybe'],
  ])('with %s: %i %o %s: %s', (_what, status, headers, body, applied) => {
    const head = { status, headers: new Headers(headers) }
    expect(appliedByPart({ head, text: body, requestId, expected })).toBe(applied)
  })

  test('before its head leaves it open', () => {
    const broken = { head: undefined, text: '{"name":', requestId, expected }
    expect(appliedByPart(broken)).toBe('maybe')
  })
})

/** Of a call that expects Fern. */
const context = {
  url: new URL('http://h'),
  requestId: 'r',
  scrub: createScrub(new Set()),
  expected: () => '{"name":"Fern"}',
  nowMs: 0,
  isOnlyRequest: true,
}

test('a response that names no media type has an empty one', () => {
  const head = { status: 200, headers: new Headers() }
  const decoded = { isJson: false, issues: [] }
  expect(
    judgeResponse(head, { bytes: new Uint8Array(), isCut: false }, decoded, context).error,
  ).toMatchObject({
    contentType: '',
    snippet: '',
  })
})

test('a response longer than any of the server is not taken for its, whatever its head says', () => {
  const headers = new Headers({ 'x-request-id': 'r', 'content-type': 'application/json' })
  const decoded = { isJson: false, issues: [] }
  const applied = [true, false].map((isCut) => {
    const read = { bytes: new TextEncoder().encode('{"name":'), isCut }
    return judgeResponse({ status: 200, headers }, read, decoded, context).error?.applied
  })
  expect(applied).toEqual(['maybe', 'yes'])
})

test.each([
  ['another name', { name: 'Moss', tag: 'shade' }, 'name is not what was sent'],
  ['another tag', { name: 'Fern', tag: 'sun' }, 'tag is not what was sent'],
  ['no tag', { name: 'Fern' }, 'tag is not what was sent'],
  ['more than a plant', { name: 'gateway', status: 'down' }, 'name is not what was sent; tag is'],
])('a plant with %s is not the one that was sent', async (_what, plant, problem) => {
  const { fetch } = createFakeFetch(() => replyJson(200, plant))
  const client = createPlantStoreClient({ baseUrl: 'http://127.0.0.1', token: 't', fetch })
  const { error } = (await client.tryCreatePlant({ id: 7, name: 'Fern', tag: 'shade' })) as {
    error?: unknown
  }
  expect(error).toMatchObject({ code: 'unexpected_response', applied: 'maybe' })
  expect(String(error)).toContain(problem)
})

test('every problem with a reply is named', async () => {
  const { fetch } = createFakeFetch(() => replyJson(200, { tag: 5 }))
  const client = createPlantStoreClient({ baseUrl: 'http://127.0.0.1', token: 't', fetch })
  await expect(client.createPlant({ id: 7, name: 'Fern' })).rejects.toThrow(
    /: name is required; tag must be a string$/,
  )
})
