import { describe, expect, test } from 'vitest'
import { useWireServer } from './harness.ts'
import { post } from './request.ts'

const server = useWireServer()

describe('text is answered and stored as it came:', () => {
  test.each<[claim: string, text: string]>([
    ['the empty string', ''],
    ['one space', ' '],
    ['white space around', ' \t fern \r\n '],
    ['only line feeds', '\n\n'],
    ['every control character but NUL', String.fromCharCode(...Array(32).keys()).slice(1)],
    ['U+007F and the C1 controls', '\x7f\x80\x85\x9f'],
    ['quotes and backslashes', '"\\\'`\\\\"'],
    ['slashes', '/../../etc/passwd'],
    ['é composed (NFC)', 'caf\u00e9'],
    ['é decomposed (NFD)', 'cafe\u0301'],
    ['letters that case folding would change', 'İıſẞß'],
    ['compatibility forms', 'ﬁ①Ａ㎏'],
    ['an emoji', '😀'],
    ['a family joined by ZWJ', '👨‍👩‍👧‍👦'],
    ['a flag and a skin tone', '🇫🇷👋🏽'],
    ['right-to-left text with an override', '\u202eabc\u202cעברית'],
    ['zero-width and soft-hyphen characters', '\u200b\u200c\u200d\u2060\u00ad'],
    ['line and paragraph separators', 'a\u2028b\u2029c'],
    ['a byte order mark at its begin', '\ufefffern'],
    ['nothing but a byte order mark', '\ufeff'],
    ['noncharacters', '\ufffe\uffff\ufdd0\u{1fffe}'],
    ['U+FFFD itself', '\ufffd'],
    ['the ends of the UTF-8 lengths', '\x7f\x80\u07ff\u0800\uffff\u{10000}\u{10ffff}'],
    ['the neighbours of the surrogates', '\ud7ff\ue000'],
    ['private use characters', '\ue000\u{f0000}'],
    ['many combining marks', `a${'\u0300'.repeat(500)}`],
    ['Chinese, Arabic, Devanagari, Thai', '龜背竹 نبات पौधा ต้นไม้'],
    ['SQL', "'); DROP TABLE plants;--"],
    ['more SQL', '\' OR 1=1 /* $1 ? :id @id "id" */'],
    ['template syntax', '\u0024{7*7}{{7*7}}<%= 7*7 %>#{7}%s%n%x'],
    ['markup', '<script>alert(1)</script>&amp;<!--'],
    ['a line break with a header', 'a\r\nSet-Cookie: b=c\r\n\r\n'],
    ['terminal escapes', '\u001b[31mred\u001b[0m\u0007'],
    ['the word null', 'null'],
    ['digits beyond 2^53', '9007199254740993'],
    ['a JSON text', '{"id":1,"name":"x"}'],
    ['the word __proto__', '__proto__'],
    ['the name of a method', 'hasOwnProperty'],
    ['60 kB', 'ö'.repeat(15_000)],
  ])('%s', async (_claim, text) => {
    const plant = { id: 1n, name: text, tag: text }
    await server.accepts(
      post(`{"id":1,"name":${JSON.stringify(text)},"tag":${JSON.stringify(text)}}`),
      plant,
    )
  })

  test.each<[claim: string, written: string, text: string]>([
    ['an escaped letter', '\\u0061', 'a'],
    ['an escaped slash', '\\/', '/'],
    ['every short escape', '\\b\\f\\n\\r\\t\\"\\\\', '\b\f\n\r\t"\\'],
    ['an escaped surrogate pair', '\\ud83d\\ude00', '😀'],
    ['an escaped pair in capitals', '\\uD83D\\uDE00', '😀'],
    ['an escaped U+FFFF', '\\uffff', '\uffff'],
    ['an escaped byte order mark', '\\ufeff', '\ufeff'],
    ['an escaped backslash before u0000', '\\\\u0000', '\\u0000'],
    ['an escaped backslash before ud800', '\\\\ud800', '\\ud800'],
    ['raw slashes and U+007F', '/\x7f', '/\x7f'],
  ])('%s', (_claim, written, text) =>
    server.accepts(post(`{"id":1,"name":"${written}"}`), { id: 1n, name: text }),
  )

  test.each<[claim: string, hex: string]>([
    ['U+0080', 'c280'],
    ['U+07FF', 'dfbf'],
    ['U+0800', 'e0a080'],
    ['U+D7FF', 'ed9fbf'],
    ['U+E000', 'ee8080'],
    ['U+FFFF', 'efbfbf'],
    ['U+10000', 'f0908080'],
    ['U+10FFFF', 'f48fbfbf'],
  ])('the bytes of %s', (_claim, hex) => {
    const bytes = Buffer.from(hex, 'hex')
    return server.accepts(post(bodyAround(bytes)), { id: 1n, name: bytes.toString() })
  })
})

/** A plant whose name is these bytes. */
function bodyAround(bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from('{"id":1,"name":"'), bytes, Buffer.from('"}')])
}

describe('bytes that are not UTF-8 are refused:', () => {
  const error = { error: 'malformed_json', message: /UTF-8/ } as const

  test.each<[claim: string, hex: string]>([
    ['FF and FE', 'fffe'],
    ['a continuation byte alone', '80'],
    ['BF alone', 'bf'],
    ['an overlong slash of two bytes', 'c0af'],
    ['an overlong slash of three bytes', 'e080af'],
    ['an overlong slash of four bytes', 'f08080af'],
    ['an overlong NUL', 'c080'],
    ['an overlong U+007F', 'c1bf'],
    ['an overlong U+07FF', 'e09fbf'],
    ['an overlong U+FFFF', 'f08fbfbf'],
    ['a high surrogate', 'eda080'],
    ['a low surrogate', 'edbfbf'],
    ['a pair of surrogates (CESU-8)', 'eda0bdedb880'],
    ['U+110000', 'f4908080'],
    ['F5', 'f5808080'],
    ['five bytes', 'f888808080'],
    ['six bytes', 'fc8480808080'],
    ['two bytes cut to one', 'c3'],
    ['three bytes cut to two', 'e282'],
    ['four bytes cut to three', 'f09f98'],
    ['a lead byte before ASCII', 'c328'],
    ['a broken second byte', 'e228a1'],
    ['a broken last byte', 'f09f9828'],
    ['latin1', 'e9'],
    ['UTF-16', 'ff00'],
  ])('%s', (_claim, hex) => server.refuses(post(bodyAround(Buffer.from(hex, 'hex'))), error))

  test.each<[claim: string, before: string, after: string]>([
    ['in a tag', '{"id":1,"name":"a","tag":"', '"}'],
    ['in an unknown member', '{"id":1,"name":"a","x":"', '"}'],
    ['in a key', '{"id":1,"name":"a","', '":1}'],
    ['between tokens', '{"id":1,', '"name":"a"}'],
    ['after the document', '{"id":1,"name":"a"}', ''],
  ])('%s', (_claim, before, after) => {
    const body = Buffer.concat([Buffer.from(before), Buffer.from([0xff]), Buffer.from(after)])
    return server.refuses(post(body), error)
  })

  test('a character cut off by the end of the body', () =>
    server.refuses(post(Buffer.from([...Buffer.from('{"id":1,"name":"'), 0xe2, 0x82])), error))
})

describe('text that no store could hold is refused:', () => {
  test.each<[claim: string, written: string]>([
    ['U+0000 alone', '\\u0000'],
    ['U+0000 at the begin', '\\u0000fern'],
    ['U+0000 within', 'fe\\u0000rn'],
    ['U+0000 at the end', 'fern\\u0000'],
    ['U+0000 on a second line', 'fern\\n\\u0000'],
    ['a high surrogate alone', '\\ud800'],
    ['the last high surrogate', '\\udbff'],
    ['a low surrogate alone', '\\udc00'],
    ['a low surrogate within', 'x\\udfffy'],
    ['a pair in the wrong order', '\\udc00\\ud800'],
    ['two high surrogates before a low one', '\\ud83d\\ud83d\\ude00'],
    ['a pair and a low surrogate', '\\ud83d\\ude00\\ude00'],
    ['a high surrogate before a raw emoji', '\\ud83d😀'],
  ])('%s', async (_claim, written) => {
    const rule = 'must be well-formed Unicode without U\\+0000$'
    await server.refuses(post(`{"id":1,"name":"${written}"}`), {
      error: 'invalid_plant',
      message: new RegExp(`^name: ${rule}`),
    })
    await server.database.removePlants()
    await server.refuses(post(`{"id":1,"name":"fern","tag":"${written}"}`), {
      error: 'invalid_plant',
      message: new RegExp(`^tag: ${rule}`),
    })
  })
})

test('no text can forge a line of the log', async () => {
  const name = 'a\r\n{"level":60,"msg":"forged"}\r\n\u001b[31m'
  const body = (tag: string) => post(JSON.stringify({ id: 1, name, tag }))
  await server.check({
    sent: Buffer.concat([body(name), body('b'), post(`{"id":"${name}"}`)]),
    replies: [{ plant: { name, tag: name } }, { error: 'id_taken' }, { error: 'malformed_json' }],
    stored: [{ id: 1n, name, tag: name }],
  })
  expect((await server.readLog()).join('')).not.toContain('forged')
})
