import { describe, expect, test } from 'vitest'
import { findSecret } from '../runtimes/secret-search.ts'
import type { PlantStoreClientOptions, PlantStoreEvent } from '../src/index.ts'
import { createRestClient } from '../src/rest.ts'
import { createScrub } from '../src/scrubber.ts'
import {
  createFakeClient,
  FERN,
  fetchFailed,
  given,
  hang,
  lose,
  page,
  type Responder,
  refuse,
  respondJson,
  run,
} from './fakes.ts'

/** Each has a part that no spelling changes, by which it is found. */
const TOKENS: readonly [name: string, token: string][] = [
  ['an ordinary token', 'plant_0a1b2c3d4e5f'],
  ['a token of odd characters', `q"\\/<&>'$1.*+?^[x](y){z}|%41=~hUnTeR2`],
]

const say = (error: number, message: string) =>
  respondJson(Math.floor(error / 100), { error, message })
const fail = (thrown: unknown) => () => Promise.reject<Response>(thrown)

/** Each quotes the credential in another place or spelling. */
const CASES: readonly [name: string, respond: (token: string) => Responder][] = [
  ['a refusal', (token) => say(40002, `no ${token}`)],
  ['a refusal in capitals', (token) => say(40101, `Bearer ${token}`.toUpperCase())],
  ['a 503', (token) => say(50300, `Bearer ${token}`)],
  ['an id of the request', (token) => refuse(40000, { 'x-request-id': token })],
  ['a page', (token) => page(200, `<p>${token}</p>`, { 'content-type': `text/${token}` })],
  ['a page, in a URL', (token) => page(502, `/?t=${encodeURIComponent(token)}`)],
  ['a redirect', (token) => page(302, '', { location: `/${token}` })],
  ['broken JSON', (token) => page(200, `{"name":${JSON.stringify(token)}`)],
  ['a page, across the cut', (token) => page(200, 'x'.repeat(70) + token)],
  ['JSON of another shape', (token) => respondJson(200, { [token]: token })],
  ['what fetch throws', (token) => fail(new TypeError(`bad header ${token}`))],
  ['the cause of what fetch throws', (token) => fail(fetchFailed(token, 'Bearer'))],
  ['a text that fetch throws', (token) => fail(`Bearer ${token}`)],
  ['a lost connection', () => lose],
  ['a timeout', () => hang],
]

describe.each(TOKENS)('%s is not shown', (_name, token) => {
  describe.each(CASES)('after %s', (_case, respondWith) => {
    test.each(['a text', 'a function'])('where it is given as %s', async (kind) => {
      const events: PlantStoreEvent[] = []
      const { fetch } = createFakeClient(respondWith(token))
      const options: PlantStoreClientOptions = {
        ...{ ...given, fetch, timeoutMs: 10, maxRetries: 0 },
        token: kind === 'a text' ? token : async () => token,
        onEvent: (event) => events.push(event),
      }
      const client = createFakeClient(hang, options)
      const thrown: unknown = await client.createPlant(FERN).catch((error: unknown) => error)
      expect(thrown).toBeInstanceOf(Error)
      const result = await client.tryCreatePlant(FERN)
      const rest = createRestClient(options).createPlant({ body: FERN })
      const raw: unknown = await rest.catch((error: unknown) => error)
      const shown = [thrown, result, raw, events, client]
      expect(shown.map((value) => findSecret(value, token))).toEqual(Array(5).fill(undefined))
    })
  })

  test('by what is found in a value', () => {
    for (const value of [token, new Error(token), new Error('x', { cause: new Error(token) })]) {
      expect(findSecret(value, token)).toBeDefined()
    }
  })
})

test('the headers of a failed response are shown, but for those that quote the token', async () => {
  const token = 'token-of-mine'
  const respond = refuse(40003, { 'x-a': '1', 'x-echo': `Bearer ${token}` })
  const { meta } = await run(respond, { token })
  expect([meta.headers?.get('x-a'), meta.headers?.has('x-echo')]).toEqual(['1', false])
})

describe('a scrubber', () => {
  const scrub = (text: string, ...secrets: string[]) => createScrub(new Set(secrets))(text)

  test.each([
    ['Bearer abc1', '[hidden]'],
    ['sent BEARER \t abc.d-e_2', 'sent [hidden]'],
    ['"authorization":"Bearer abc1","next":1', '"authorization":"[hidden]","next":1'],
    ["bearer 1abc, bearer d2ef; and 'bearer ghi3'", "[hidden], [hidden]; and '[hidden]'"],
    ['of plant_0a1b2c3d4e5f_Ab-c_D here', 'of [hidden] here'],
    // What is none.
    ...['forbearer abc1', 'the bearer', 'of plant_store_errors here'].map((text) => [text, text]),
    ...['the Bearer scheme is required, as in RFC 6750'].map((text) => [text, text]),
    ['Ünï 植物 🌱 ¿“quoted”?', 'Ünï 植物 🌱 ¿“quoted”?'],
    // What a terminal would obey.
    ['a\r\nb', 'a\\u000d\\u000ab'],
    ['\u001b[2J', '\\u001b[2J'],
    ['\u009b2J', '\\u009b2J'],
    ['\u007f', '\\u007f'],
    ['a\u202eb', 'a\\u202eb'],
    ['\u2028\u2029', '\\u2028\\u2029'],
    ['\ud800', '\\ud800'],
    ['\u{e0001}', '\\ue0001'],
  ])('of no secret makes %j %j', (text, left) => {
    expect(scrub(text)).toBe(left)
  })

  test('hides each secret that it was given, wherever it stands', () => {
    const text = 'xabcd+efgx MOSSMOSS abcdefg abcd%2befg'
    const left = 'x[hidden]x [hidden] abcdefg [hidden]'
    expect(scrub(text, 'abcd+efg', 'mossmoss')).toBe(left)
    // Before the credential that holds it.
    expect(scrub('Bearer abc1"defg', 'abc1"defg')).toBe('Bearer [hidden]')
  })

  test.each(['token', 'e', 'plant', 'valid'])('leaves words alone where %s is one', (token) => {
    const text = 'the token of the plant is not valid, for this reason'
    expect(scrub(text, token)).toBe(text)
    expect(scrub(`you sent Bearer ${token}.`, token)).toBe('you sent Bearer [hidden].')
  })

  test.each<[string, (secret: string) => string]>([
    ['as it is', (secret) => secret],
    ['in upper case', (secret) => secret.toUpperCase()],
    ['in a URL', encodeURIComponent],
    ['in JSON', (secret) => JSON.stringify(secret)],
  ])('hides a secret %s, however long, and nothing beside it', (_how, spell) => {
    for (const secret of ['a+b/c=="\\x', 'abc%2Bdef%', '\\\\\\u0041&amp;<', 'Z-9~'.repeat(300)]) {
      expect(scrub(`before ${spell(secret)}, after ${spell(secret)}`, secret)).toMatch(
        /^before "?\[hidden\]"?, after "?\[hidden\]"?$/,
      )
    }
  })

  test.each([
    ['what almost is the secret', `${'a'.repeat(3_999)} `.repeat(100)],
    ['nothing but its first character', 'a'.repeat(400_000)],
    ['beginnings of a credential', 'bearer '.repeat(60_000)],
    ['a credential of spaces', `bearer${' '.repeat(400_000)}`],
  ])('is done in a moment with %s', (_what, text) => {
    const start = process.cpuUsage()
    scrub(text, `${'a'.repeat(4_000)}b`, `b${'a'.repeat(4_000)}`, `${'\\'.repeat(40)}x`)
    const { user, system } = process.cpuUsage(start)
    // Twenty times what it takes, in microseconds of the processor, which others may have meanwhile.
    expect(user + system).toBeLessThan(500_000)
  })

  test('shows only the beginning of a text that is longer than it reads', () => {
    const secret = 'abc'.repeat(3_000)
    const text = `${'x'.repeat(1_000)} ${secret} ${'y'.repeat(20_000)}`
    expect(scrub(text, secret)).toBe(`${'x'.repeat(1_000)} [hidden] ${'y'.repeat(14)}…`)
    expect(scrub(`${'y'.repeat(16_000)}${secret}`, secret)).toBe(`${'y'.repeat(1_024)}…`)
  })
})
