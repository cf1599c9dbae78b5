import { describe, expect, test } from 'vitest'
import { useWireServer } from './harness.ts'
import { PLANT_NAME, plantOf, plantText, post } from './request.ts'

const server = useWireServer()

const NAME = `"name":"${PLANT_NAME}"`

/** A plant with one more member, which is no part of NewPlant. */
function plantWith(member: string): string {
  return `{"id":1,${NAME},${member}}`
}

describe('a body that is not JSON is refused:', () => {
  test.each<[claim: string, body: string]>([
    ['no bytes at all', ''],
    ['white space only', ' \t\r\n'],
    ['a trailing comma in an object', `{"id":1,${NAME},}`],
    ['a trailing comma in an array', plantWith('"x":[1,]')],
    ['a leading comma', `{,"id":1,${NAME}}`],
    ['a missing comma', `{"id":1 ${NAME}}`],
    ['a missing colon', `{"id" 1,${NAME}}`],
    ['two colons', `{"id"::1,${NAME}}`],
    ['a line comment', `{"id":1,${NAME}} // done`],
    ['a block comment', `{"id":1,/* tag */${NAME}}`],
    ['single quotes', `{'id':1,${NAME}}`],
    ['a key without quotes', `{id:1,${NAME}}`],
    ['a number as a key', `{1:1,"id":1,${NAME}}`],
    ['NaN', plantWith('"x":NaN')],
    ['Infinity', plantWith('"x":-Infinity')],
    ['undefined', plantWith('"x":undefined')],
    ['True instead of true', plantWith('"x":True')],
    ['a truncated literal', plantWith('"x":nul')],
    ['a leading zero', plantText('01')],
    ['a minus before a leading zero', plantText('-01')],
    ['a plus sign', plantText('+1')],
    ['a hexadecimal number', plantText('0x10')],
    ['a number without its whole part', plantText('.5')],
    ['a number without its fraction', plantText('1.')],
    ['a number without its exponent', plantText('1e')],
    ['a lone minus', plantText('-')],
    ['a number with a suffix of another language', plantText('1n')],
    ['a number with separators', plantText('1_000')],
    ['full-width digits', plantText('１')],
    ['two documents', `${plantText(1)}${plantText(2)}`],
    ['two documents on lines of their own', `${plantText(1)}\n${plantText(2)}`],
    ['junk after the document', `${plantText(1)}x`],
    ['a closing brace too many', `${plantText(1)}}`],
    ['a closing bracket for a brace', `{"id":1,${NAME}]`],
    ['a document that ends in a string', '{"id":1,"name":"Mon'],
    ['a document that ends after a member', `{"id":1,${NAME}`],
    ['an opening brace alone', '{'],
    ['a raw line feed in a string', '{"id":1,"name":"a\nb"}'],
    ['a raw tab in a string', '{"id":1,"name":"a\tb"}'],
    ['a raw NUL in a string', '{"id":1,"name":"a\0b"}'],
    ['a raw unit separator in a key', plantWith('"a\u001fb":1')],
    ['an unknown escape', '{"id":1,"name":"\\x41"}'],
    ['an escape of three digits', '{"id":1,"name":"\\u041"}'],
    ['an escape of no digits', '{"id":1,"name":"\\u00zz"}'],
    ['a backslash before the closing quote', '{"id":1,"name":"a\\"}'],
    ['a no-break space between tokens', `{"id":\u00a01,${NAME}}`],
    ['a form feed between tokens', `{"id":\f1,${NAME}}`],
    ['a zero byte after the document', `${plantText(1)}\0`],
    ['a form', 'id=1&name=Monstera'],
    ['XML', '<plant id="1"/>'],
    ['a second byte order mark', `\ufeff\ufeff${plantText(1)}`],
  ])('%s', (_claim, body) => server.refuses(post(body), { error: 'malformed_json' }))

  test('no body and no length', () =>
    server.refuses(post('', { framing: null }), { error: 'malformed_json', message: /empty/ }))

  test('UTF-16 with its byte order mark', () => {
    const body = Buffer.from(`\ufeff${plantText(1)}`, 'utf16le')
    return server.refuses(post(body), { error: 'malformed_json' })
  })
})

describe('nesting', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

  test('64 levels are accepted', () =>
    server.accepts(post(plantWith(`"x":${nested(63)}`)), plantOf(1)))

  test.each<[claim: string, body: string]>([
    ['65 levels', plantWith(`"x":${nested(64)}`)],
    ['10,000 levels of an unknown member', plantWith(`"x":${nested(10_000)}`)],
    ['32,000 levels as a name', `{"id":1,"name":${nested(32_000)}}`],
    ['10,000 levels of objects', `${'{"x":'.repeat(10_000)}1${'}'.repeat(10_000)}`],
    ['60,000 brackets that are never closed', '['.repeat(60_000)],
  ])('%s are refused', (_claim, body) => server.refuses(post(body), { error: 'malformed_json' }))

  test('brackets inside a string are no levels', () =>
    server.accepts(post(plantWith(`"x":"${'['.repeat(1_000)}\\"${'{'.repeat(99)}"`)), plantOf(1)))
})

describe('JSON that is no NewPlant is refused:', () => {
  const noObject = /^body: must be a JSON object with id and name$/
  const noText = (member: string) => new RegExp(`^${member}: must be a string$`)
  const noId = /^id: must be an integer between -9223372036854775808 and 9223372036854775807$/

  test.each<[claim: string, body: string, message: RegExp]>([
    ['null', 'null', noObject],
    ['an array', '[]', noObject],
    ['an array of a plant', `[${plantText(1)}]`, noObject],
    ['a string', '"x"', noObject],
    ['a number', '5', noObject],
    ['a long number', '9223372036854775807', noObject],
    ['a boolean', 'true', noObject],
    ['an empty object', '{}', /^id: is required; name: is required$/],
    ['no id', `{${NAME}}`, /^id: is required$/],
    ['no name', '{"id":1}', /^name: is required$/],
    ['a name that is a number', '{"id":1,"name":5}', noText('name')],
    ['a name that is a long number', '{"id":1,"name":9007199254740993}', noText('name')],
    ['a name that is a boolean', '{"id":1,"name":true}', noText('name')],
    ['a name that is null', '{"id":1,"name":null}', noText('name')],
    ['a name that is an array', '{"id":1,"name":["a"]}', noText('name')],
    ['a name that is an object', '{"id":1,"name":{}}', noText('name')],
    ['a tag that is a number', plantWith('"tag":5'), noText('tag')],
    ['a tag that is a boolean', plantWith('"tag":false'), noText('tag')],
    ['a tag that is null', plantWith('"tag":null'), noText('tag')],
    ['a tag that is an array', plantWith('"tag":[]'), noText('tag')],
    ['a tag that is an object', plantWith('"tag":{"a":"b"}'), noText('tag')],
    ['ID instead of id', `{"ID":1,${NAME}}`, /^id: is required$/],
    ['Id instead of id', `{"Id":1,${NAME}}`, /^id: is required$/],
    ['a key with a space before id', `{" id":1,${NAME}}`, /^id: is required$/],
    ['a key with a NUL after id', `{"id\\u0000":1,${NAME}}`, /^id: is required$/],
    ['a name only inside __proto__', '{"id":1,"__proto__":{"name":"a"}}', /^name: is required$/],
    ['an id only inside __proto__', `{${NAME},"__proto__":{"id":1}}`, /^id: is required$/],
    ['a name only inside constructor', '{"id":1,"constructor":{"name":"a"}}', /^name: is req/],
    ['a last id that is no integer', `{"id":1,${NAME},"id":"1"}`, noId],
    ['a last name that is no text', plantWith('"name":7'), noText('name')],
    ['a last tag that is null', plantWith('"tag":"a","tag":null'), noText('tag')],
    ['everything wrong at once', '{"id":"1","name":2,"tag":3}', /^id: .+; name: .+; tag: [^;]+$/],
  ])('%s', (_claim, body, message) =>
    server.refuses(post(body), { error: 'invalid_plant', message }),
  )
})

describe('a NewPlant is accepted', () => {
  test.each<[claim: string, body: string]>([
    ['with white space around every token', ` \t\r\n{ "id" : 1 ,\n${NAME}\r\n}\n `],
    ['after a byte order mark', `\ufeff${plantText(1)}`],
    ['with its members in another order', `{${NAME},"id":1}`],
    ['with a key written in escapes', `{"\\u0069\\u0064":1,${NAME}}`],
    ['with unknown members of every kind', plantWith('"a":null,"b":[{}],"c":1e999,"d":"\\u0000"')],
    ['with an unknown member of an inexact number', plantWith('"x":3.141592653589793238462643')],
    ['with a lone surrogate in an unknown member', plantWith('"x":"\\ud800","\\udfff":1')],
    ['with members named as methods', plantWith('"toString":1,"hasOwnProperty":2,"valueOf":3')],
    ['with an empty key', plantWith('"":1')],
    ['with a tag only inside __proto__', plantWith('"__proto__":{"tag":"wild"}')],
    ['with a tag only inside a prototype', plantWith('"constructor":{"prototype":{"tag":"x"}}')],
    ['whose first id is no integer, but whose last one is', `{"id":"x",${NAME},"id":1}`],
    ['whose id is repeated: the last one counts', `{"id":2,${NAME},"id":1}`],
    ['whose name is repeated: the last one counts', `{"id":1,"name":"Fern",${NAME}}`],
    ['whose id is repeated in escapes', `{"id":2,"\\u0069d":1,${NAME}}`],
  ])('%s', (_claim, body) => server.accepts(post(body), plantOf(1)))

  test('whose tag is repeated: the last one counts', () =>
    server.accepts(post(plantWith('"tag":null,"tag":"a","tag":"b"')), { ...plantOf(1), tag: 'b' }))

  test('and __proto__ gives no plant after it a tag', async () => {
    const body = plantWith('"__proto__":{"tag":"wild"},"constructor":{"prototype":{"tag":"wild"}}')
    await server.accepts(post(body), plantOf(1))
  })

  test('with 6,000 unknown members, hardly slower than with one as long', async () => {
    const members = Array.from({ length: 6_000 }, (_, index) => `"${index}":1`).join()
    const body = post(plantWith(members))
    await server.accepts(body, plantOf(1))
    const plainMs = await server.fastestMs(post(plantWith(`"x":"${'x'.repeat(members.length)}"`)))
    expect(await server.fastestMs(body)).toBeLessThan(50 + 10 * plainMs)
  })
})
