import { crc32 } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { createOpaqueToken } from '../../src/auth/tokens.ts'
import { type ExpectedError, malformed, missing } from './expectations.ts'
import { eachOf, type Refusal, tokenRecord, useWireServer } from './harness.ts'
import { post, request, token } from './request.ts'

// Here many requests without a valid token come from one address.
const server = useWireServer({ failedCredentialLimit: 'off' })

const invalid: ExpectedError = { error: 'invalid_token', message: /^the token is not valid$/ }

const revoked = createOpaqueToken()
const expired = createOpaqueToken()
const unknown = createOpaqueToken()
const { text } = token

beforeAll(() =>
  server.database.withStore(async ({ tokens }) => {
    const record = ({ id, secretSha256 }: typeof token) => tokenRecord({ id, secretSha256 })
    await tokens.add({ ...record(revoked), name: 'revoked' })
    await tokens.revoke(revoked.id, Date.now())
    await tokens.add({ ...record(expired), name: 'expired', expiresAt: Date.now() - 1 })
  }),
)

/** The good token with its character at `index` exchanged. */
function withTypo(index: number): string {
  return `${text.slice(0, index)}${text[index] === 'a' ? 'b' : 'a'}${text.slice(index + 1)}`
}

/** Well formed, with a true checksum, for an id that the store knows. */
function withOtherSecret(): string {
  const unchecked = `plant_${token.id}_${unknown.text.slice(19, 62)}`
  return unchecked + crc32(unchecked).toString(16).padStart(8, '0')
}

/** TOKEN stands for the good one. */
const withToken = (value: string) => value.replaceAll('TOKEN', text)
const showing = (value: string) => request({ authorization: withToken(value) })

eachOf('a good token is accepted %s:', (value) => server.accepts(showing(value)), {
  'after its scheme in any case': ['Bearer TOKEN', 'bearer TOKEN', 'BEARER TOKEN', 'bEaReR TOKEN'],
  'with blanks': ['Bearer  TOKEN', ' \tBearer TOKEN', 'Bearer TOKEN ', 'Bearer TOKEN\t'],
})

test.each(['authorization', 'AUTHORIZATION', 'aUTHORIZATION'])(
  'a header named %s is read',
  (name) => server.accepts(request({ authorization: null, more: [`${name}:Bearer ${text}`] })),
)

eachOf('%s is no bearer credential:', (value) => server.refuses(showing(value), missing), {
  nothing: [''],
  'the scheme alone': ['Bearer', 'Bearer ', 'Bearer    '],
  'another separator': ['Bearer\tTOKEN', 'BearerTOKEN', 'Bearer: TOKEN', 'Bearer=TOKEN'],
  'the token alone': ['TOKEN'],
  'another scheme': ['"Bearer" TOKEN', 'Bearers TOKEN', 'Token TOKEN'],
  'a scheme of users': ['Basic TOKEN', 'Digest username="a", response="TOKEN"'],
  'a list of schemes': ['Basic YTpi, Bearer TOKEN'],
})

describe('a request without a bearer credential is refused:', () => {
  test('no Authorization', () => server.refuses(request({ authorization: null }), missing))

  test.each(['Proxy-Authorization: Bearer ', 'X-Authorization: Bearer ', 'Cookie: access_token='])(
    'a token in "%s"',
    (header) => server.refuses(request({ authorization: null, more: [header + text] }), missing),
  )

  test.each([
    [`/plants?access_token=${text}`, missing],
    [`/plants?token=${text}`, missing],
    // RFC 9110 §4.2.4: userinfo in a target is an error.
    [`http://${text}@plants.test/plants`, malformed],
  ])('a token in the target %s, which is not logged', (target, error) =>
    server.refuses(request({ line: `POST ${target} HTTP/1.1`, authorization: null }), error),
  )

  test('a token in the body', () => {
    const parts = { authorization: null, contentType: 'application/x-www-form-urlencoded' }
    return server.refuses(post(`access_token=${text}`, parts), missing)
  })

  test.each([
    ['good and wrong', `Bearer ${text}`, `Bearer ${unknown.text}`],
    ['wrong and good', `Bearer ${unknown.text}`, `Bearer ${text}`],
    ['twice the same', `Bearer ${text}`, `Bearer ${text}`],
    ['good and empty', `Bearer ${text}`, 'Bearer '],
    ['of different schemes', `Bearer ${text}`, 'Basic YTpi'],
  ])('two Authorization headers, %s', (_claim, authorization, second) =>
    server.refuses(request({ authorization, more: [`Authorization: ${second}`] }), {
      ...missing,
      message: /^the request must have one Authorization header$/,
    }),
  )
})

async function expectInvalid(credential: string): Promise<void> {
  await server.refuses(showing(`Bearer ${credential}`), invalid)
  const log = (await server.readLog()).join('')
  if (credential.length > 2) expect(log).not.toContain(withToken(credential))
}

describe('every token that does not open the service gets the same words:', () => {
  test.each([
    ['unknown', unknown.text],
    ['revoked', revoked.text],
    ['expired', expired.text],
    ['of a known id with another secret', withOtherSecret()],
    ['with a typo in its prefix', withTypo(0)],
    ['with a typo in its id', withTypo(8)],
    ['with a typo in its secret', withTypo(30)],
    ['with a typo in its checksum', withTypo(text.length - 1)],
    ['with one character too few', text.slice(0, -1)],
    ['in capitals', text.toUpperCase()],
    ['with a space within', `${text.slice(0, 30)} ${text.slice(30)}`],
  ])('%s', (_claim, credential) => expectInvalid(credential))
})

eachOf('a token %s gets the same words:', expectInvalid, {
  'with something around it': ['TOKEN0', 'TOKEN==', '"TOKEN"', '<TOKEN>', 'TOKEN\xe9'],
  'followed by another': ['TOKEN TOKEN', 'TOKEN, Bearer TOKEN'],
  'of another kind': ['x', 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.', 'a'.repeat(8_000)],
  'of characters that no token has': ['\xff\xfe', '%00', "' OR 1=1 --"],
})

describe('the credential is checked before', () => {
  const authorization = `Bearer ${unknown.text}`
  const at = (line: string, body?: string) =>
    request({ line: `${line} HTTP/1.1`, authorization, ...(body !== undefined && { body }) })

  test.each<Refusal>([
    ['the path', at('POST /other'), invalid],
    ['the method', at('DELETE /plants'), invalid],
    ['OPTIONS', at('OPTIONS /plants'), invalid],
    ['OPTIONS *', at('OPTIONS *'), invalid],
    ['HEAD, whose response has no body', at('HEAD /plants', ''), { ...invalid, hasBody: false }],
    ['the media type', post('a', { contentType: 'text/plain', authorization }), invalid],
    ['the content coding', post('a', { more: ['Content-Encoding: gzip'], authorization }), invalid],
    ['the JSON', post('{', { authorization }), invalid],
    ['the UTF-8', post(Buffer.from([0xff]), { authorization }), invalid],
    ['the plant', post('{}', { authorization }), invalid],
    ['the size of the body', post('x'.repeat(70_000), { authorization }), invalid, 'closed'],
  ])('%s', (_claim, ...refusal) => server.refuses(...refusal))
})
