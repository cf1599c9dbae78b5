import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createOpaqueToken } from '../../src/auth/tokens.ts'
import { formatAuditLine } from '../../src/commands/audit.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { displayName } from '../../src/text/display-name.ts'
import { holdsCredential, withoutCredentials } from '../../src/text/without-credentials.ts'
import { encodePart } from './sign-jwt.ts'

/** A credential, and what of it must be seen nowhere, in capitals or not. */
interface Credential {
  readonly text: string
  readonly secret: string
}

const cases = fc.constantFrom('toString', 'toUpperCase', 'toLowerCase')
const opaque: fc.Arbitrary<Credential> = cases.map((change) => {
  const { text } = createOpaqueToken()
  const secret = text.slice('plant_0123456789ab_'.length)
  return { text: text[change](), secret }
})

const jwt: fc.Arbitrary<Credential> = fc
  .record({
    alg: fc.constantFrom('ES256', 'EdDSA', 'RS256'),
    blank: fc.constantFrom('', ' ', '\n', '\t', '\r\n'),
    kid: fc.string(),
    claims: fc.dictionary(fc.string(), fc.string(), { maxKeys: 4 }),
    signature: fc.uint8Array({ minLength: 32, maxLength: 256 }),
  })
  .map(({ alg, blank, kid, claims, signature }) => {
    const header = encodePart(`{${blank}"alg":"${alg}","kid":${JSON.stringify(kid)}}`)
    const secret = Buffer.from(signature).toString('base64url')
    return { text: `${header}.${encodePart(claims)}.${secret}`, secret }
  })

type Dressing = (text: string) => string

const hexOf = (character: string) => character.charCodeAt(0).toString(16)
const percentOf: Dressing = (character) => `%${hexOf(character).padStart(2, '0')}`

/** Escapes the characters that a list, repeated, marks, and those that must not stay. */
function escaping(toEscape: Dressing, musts: string) {
  return fc.array(fc.boolean(), { minLength: 1, maxLength: 30 }).map((marks): Dressing => {
    const isEscaped = (character: string, index: number) =>
      musts.includes(character) || marks[index % marks.length]
    return (text) => text.replace(/./gsu, (c, index) => (isEscaped(c, index) ? toEscape(c) : c))
  })
}

const GLUE = '_ - . Bearer_ Bearer%20 %3D token= %5F \\n plant_ eyJ a.b.'.split(' ')
const glue = fc.oneof(fc.constantFrom(...GLUE), fc.string({ maxLength: 12 }))

const dressing = fc.oneof(
  escaping(percentOf, '%\\'),
  escaping((character) => percentOf(character).toUpperCase(), '%\\'),
  escaping((character) => `\\u${hexOf(character).padStart(4, '0')}`, '\\'),
  fc.constant<Dressing>(encodeURIComponent),
  fc.constant<Dressing>((text) => JSON.stringify(text).slice(1, -1)),
  // What follows a secret without a mark between them is taken for a part of it.
  fc.tuple(glue, glue).map(
    ([before, after]): Dressing =>
      (text) =>
        before + text + after,
  ),
)

const dressed: fc.Arbitrary<Credential> = fc
  .tuple(fc.oneof(opaque, jwt), fc.array(dressing, { maxLength: 4 }))
  .map(([credential, layers]) => ({
    ...credential,
    text: layers.reduce((text, layer) => layer(text), credential.text),
  }))

/** Everything that a text says to whoever takes its escapes away, as often as there are any. */
function readingsOf(text: string): string[] {
  const next = text
    .replace(/\\\\/g, '\\')
    .replace(/(?:%|\\u00|\\x)([\da-f]{2})/gi, (_, digits) =>
      String.fromCharCode(Number.parseInt(digits, 16)),
    )
  return next === text ? [text] : [text, ...readingsOf(next)]
}

function expectUnseen(written: string, { secret }: Credential): void {
  // A part of a secret is a secret, too.
  const part = secret.slice(0, 12).toLowerCase()
  for (const reading of readingsOf(written)) expect(reading.toLowerCase()).not.toContain(part)
}

function logged(about: object): string {
  const lines: string[] = []
  createLog('info', { write: (line) => void lines.push(line) }).info(about)
  return lines.join('')
}

/** Each way by which a text of a caller gets out, as it does. */
const WAYS: Readonly<Record<string, (text: string) => string>> = {
  'a text': withoutCredentials,
  'a path in the log': (text) => logged({ path: text }),
  'an error in the log': (text) => logged({ err: new Error(text) }),
  'an audit line': (text) => formatAuditLine({ reason: text }),
  'a name': displayName,
}

/** An escape in front of a JWT that takes its first letter. */
const beheaded: Credential = {
  text: `%0${encodePart({ alg: 'ES256' })}%2e${encodePart({})}.${'A'.repeat(43)}`,
  secret: 'A'.repeat(43),
}

test.each(Object.entries(WAYS))('no escaped or glued credential is seen in %s', (_way, write) => {
  fc.assert(
    fc.property(dressed, (sent) => expectUnseen(write(sent.text), sent)),
    { numRuns: 4_500, examples: [[beheaded]] },
  )
})

describe('what is no credential stays as it is:', () => {
  test.each([
    'plants/keyboard.layout.example.com',
    'someone.worked.here',
    'eyJustAnOrdinaryWord.that.goes.on',
    'monkeyJumpsOverTheMoon.example.com',
    'plant_store_creates_total',
    'plant_0123456789ab',
    '2f0e5fd0-93c0-4c3e-8d5c-0c6b6e8b4a7a',
    '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    '/plants%2F1?%E2%9C%93=100%25',
    'C:\\Users\\Ann\\plants.db',
    '{"a":"b\\"c\\\\","d":"\\u0000"}',
  ])('%s', (text) => {
    expect(withoutCredentials(text)).toBe(text)
    expect(holdsCredential(text)).toBe(false)
  })

  test('any text of words and marks', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
        expect(withoutCredentials(text)).toBe(text)
      }),
      { numRuns: 5_000 },
    )
  })

  test('and around a credential', () => {
    const { text } = createOpaqueToken()
    expect(withoutCredentials(`GET /plants/${text}/x "${text}", then`)).toBe(
      'GET /plants/[credential]/x "[credential]", then',
    )
  })
})

test('a line of JSON that held a credential is JSON still', () => {
  fc.assert(
    fc.property(dressed, fc.string(), ({ text }, other) => {
      const line = JSON.stringify({ path: `${other}${text}${other}`, other })
      expect(JSON.parse(withoutCredentials(line))).toHaveProperty('other', other)
    }),
    { numRuns: 2_000 },
  )
})

describe('a long text takes time that grows with it alone:', () => {
  test.each(['eyJ', 'eyJ.a.', 'e30.', 'a.', '%25', '%', '\\', '\\\\', '\\u005c', 'plant_', 'eyA-'])(
    'a mebibyte of %s',
    (piece) => {
      const text = piece.repeat(1_048_576 / piece.length)
      const start = performance.now()
      withoutCredentials(text)
      // A quadratic pattern takes minutes.
      expect(performance.now() - start).toBeLessThan(10_000)
    },
  )
})
