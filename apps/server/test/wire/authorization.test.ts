import { crc32 } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { createOpaqueToken } from '../../src/auth/tokens.ts'
import type { ExpectedError } from './expectations.ts'
import { tokenRecord, useWireServer } from './harness.ts'
import { plantOf, plantText, post, request, token } from './request.ts'

// Here many requests without a valid token come from one address.
const server = useWireServer({ failedCredentialLimit: 'off' })

const missing: ExpectedError = { error: 'missing_credentials' }
const invalid: ExpectedError = { error: 'invalid_token', message: /^the token is not valid$/ }

const revoked = createOpaqueToken()
const expired = createOpaqueToken()
const unknown = createOpaqueToken()

beforeAll(async () => {
  await server.database.withStore(async ({ tokens }) => {
    await tokens.add(tokenRecord({ ...pick(revoked), name: 'revoked' }))
    await tokens.revoke(revoked.id, Date.now())
    await tokens.add(tokenRecord({ ...pick(expired), name: 'expired', expiresAt: Date.now() - 1 }))
  })
})

function pick({ id, secretSha256 }: typeof token) {
  return { id, secretSha256 }
}

/** The good token with its character at `index` exchanged. */
function withTypo(index: number): string {
  const { text } = token
  return `${text.slice(0, index)}${text[index] === 'a' ? 'b' : 'a'}${text.slice(index + 1)}`
}

/** Well formed, with a true checksum, for an id that the store knows. */
function withOtherSecret(): string {
  const unchecked = `plant_${token.id}_${unknown.text.slice(19, 62)}`
  return unchecked + crc32(unchecked).toString(16).padStart(8, '0')
}

describe('a good token is accepted', () => {
  test.each<[claim: string, authorization: string]>([
    ['as "Bearer"', `Bearer ${token.text}`],
    ['as "bearer"', `bearer ${token.text}`],
    ['as "BEARER"', `BEARER ${token.text}`],
    ['as "bEaReR"', `bEaReR ${token.text}`],
    ['after two spaces', `Bearer  ${token.text}`],
    ['before a space', `Bearer ${token.text} `],
    ['before a tab', `Bearer ${token.text}\t`],
    ['after a space and a tab before the scheme', ` \tBearer ${token.text}`],
  ])('%s', (_claim, authorization) =>
    server.accepts(post(plantText(1), { authorization }), plantOf(1)),
  )

  test.each<[name: string]>([['authorization'], ['AUTHORIZATION'], ['aUTHORIZATION']])(
    'in a header named %s',
    (name) => {
      const more = [`${name}:Bearer ${token.text}`]
      return server.accepts(post(plantText(1), { authorization: null, more }), plantOf(1))
    },
  )
})

describe('a request without a bearer credential is refused:', () => {
  test.each<[claim: string, authorization: string | null]>([
    ['no Authorization', null],
    ['an empty Authorization', ''],
    ['the scheme alone', 'Bearer'],
    ['the scheme and a space', 'Bearer '],
    ['the scheme and spaces', 'Bearer    '],
    ['a tab after the scheme', `Bearer\t${token.text}`],
    ['no space after the scheme', `Bearer${token.text}`],
    ['a colon after the scheme', `Bearer: ${token.text}`],
    ['an equals sign after the scheme', `Bearer=${token.text}`],
    ['the token alone', token.text],
    ['a quoted scheme', `"Bearer" ${token.text}`],
    ['a longer scheme', `Bearers ${token.text}`],
    ['the scheme Token', `Token ${token.text}`],
    ['the scheme Basic', `Basic ${Buffer.from(`a:${token.text}`).toString('base64')}`],
    ['the scheme Digest', `Digest username="a", response="${token.text}"`],
    ['two schemes', `Basic YTpi, Bearer ${token.text}`],
  ])('%s', (_claim, authorization) =>
    server.refuses(post(plantText(1), { authorization }), missing),
  )

  test.each<[claim: string, header: string]>([
    ['Proxy-Authorization', `Proxy-Authorization: Bearer ${token.text}`],
    ['X-Authorization', `X-Authorization: Bearer ${token.text}`],
    ['Cookie', `Cookie: access_token=${token.text}`],
  ])('a token in %s', (_claim, header) =>
    server.refuses(post(plantText(1), { authorization: null, more: [header] }), missing),
  )

  test.each<[claim: string, target: string]>([
    ['access_token in the query', `/plants?access_token=${token.text}`],
    ['token in the query', `/plants?token=${token.text}`],
  ])('a token as %s, which is not logged', (_claim, target) => {
    const line = `POST ${target} HTTP/1.1`
    return server.refuses(post(plantText(1), { line, authorization: null }), missing)
  })

  // RFC 9110 §4.2.4: userinfo in a target is an error.
  test('a token as userinfo of the target, which is not logged', () => {
    const line = `POST http://${token.text}@plants.test/plants HTTP/1.1`
    return server.refuses(
      post(plantText(1), { line, authorization: null }),
      { error: 'malformed_request' },
      'closed',
    )
  })

  test('a token in the body', () => {
    const body = `access_token=${token.text}`
    const contentType = 'application/x-www-form-urlencoded'
    return server.refuses(post(body, { authorization: null, contentType }), missing)
  })

  test.each<[claim: string, first: string, second: string]>([
    ['good and wrong', token.text, unknown.text],
    ['wrong and good', unknown.text, token.text],
    ['twice the same', token.text, token.text],
    ['good and empty', token.text, ''],
  ])('two Authorization headers, %s', (_claim, first, second) =>
    server.refuses(
      post(plantText(1), {
        authorization: `Bearer ${first}`,
        more: [`Authorization: Bearer ${second}`],
      }),
      missing,
    ),
  )

  test('two Authorization headers of different schemes', () =>
    server.refuses(post(plantText(1), { more: ['authorization: Basic YTpi'] }), missing))
})

describe('every token that does not open the service gets the same words:', () => {
  test.each<[claim: string, credential: string]>([
    ['unknown', unknown.text],
    ['revoked', revoked.text],
    ['expired', expired.text],
    ['of a known id with another secret', withOtherSecret()],
    ['with a typo in its prefix', withTypo(0)],
    ['with a typo in its id', withTypo(8)],
    ['with a typo in its secret', withTypo(30)],
    ['with a typo in its checksum', withTypo(token.text.length - 1)],
    ['with one character too many', `${token.text}0`],
    ['with one character too few', token.text.slice(0, -1)],
    ['in capitals', token.text.toUpperCase()],
    ['with padding', `${token.text}==`],
    ['in quotes', `"${token.text}"`],
    ['in angle brackets', `<${token.text}>`],
    ['with a space within', `${token.text.slice(0, 30)} ${token.text.slice(30)}`],
    ['followed by another', `${token.text} ${token.text}`],
    ['followed by a comma and another', `${token.text}, Bearer ${token.text}`],
    ['with a letter beyond ASCII', `${token.text}é`],
    ['of letters beyond ASCII only', '\xff\xfe'],
    ['of one character', 'x'],
    ['of a NUL in escapes', '%00'],
    ['of another form', 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.'],
    ['of SQL', "' OR 1=1 --"],
    ['of 8,000 characters', 'a'.repeat(8_000)],
  ])('%s', async (_claim, credential) => {
    await server.refuses(post(plantText(1), { authorization: `Bearer ${credential}` }), invalid)
    if (credential.length > 2) expect((await server.readLog()).join('')).not.toContain(credential)
  })

  test('a token of 20 kB is too large a header', () =>
    server.refuses(
      post(plantText(1), { authorization: `Bearer ${'a'.repeat(20_000)}` }),
      { error: 'headers_too_large' },
      'closed',
    ))
})

describe('the credential is checked before', () => {
  const authorization = `Bearer ${unknown.text}`

  test.each<[claim: string, bytes: Buffer]>([
    ['the path', request({ line: 'POST /other HTTP/1.1', authorization })],
    ['the method', request({ line: 'DELETE /plants HTTP/1.1', authorization })],
    ['OPTIONS', request({ line: 'OPTIONS /plants HTTP/1.1', authorization })],
    ['OPTIONS *', request({ line: 'OPTIONS * HTTP/1.1', authorization })],
    ['the media type', post('a', { contentType: 'text/plain', authorization })],
    ['the content coding', post('a', { more: ['Content-Encoding: gzip'], authorization })],
    ['the JSON', post('{', { authorization })],
    ['the UTF-8', post(Buffer.from([0xff]), { authorization })],
    ['the plant', post('{}', { authorization })],
  ])('%s', (_claim, bytes) => server.refuses(bytes, invalid))

  test('the size of the body', () =>
    server.refuses(post('x'.repeat(70_000), { authorization }), invalid, 'closed'))

  test('HEAD, whose reply has no body', () =>
    server.refuses(request({ line: 'HEAD /plants HTTP/1.1', authorization, body: '' }), {
      ...invalid,
      hasBody: false,
    }))

  test('the path, so that a stranger learns nothing about paths', async () => {
    const bodies = new Set<string>()
    for (const target of ['/', '/plants', '/unknown', '/docs/', '/livez', '/plants/1']) {
      const caller = await server.open()
      caller.send(request({ line: `GET ${target} HTTP/1.1`, authorization: null, body: '' }))
      const { status, body } = await caller.readReply()
      bodies.add(`${status} ${body}`)
    }
    expect([...bodies]).toStrictEqual([expect.stringMatching(/^401 \{"error":40100,/)])
  })
})
