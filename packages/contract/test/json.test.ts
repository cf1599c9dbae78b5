import { describe, expect, test } from 'vitest'
import {
  decodeJson,
  encodeJson,
  JsonSyntaxError,
  type JsonWritable,
  MAX_JSON_DEPTH,
  MAX_JSON_VALUES,
  NewPlant,
} from '../src/index.ts'

const decode = (text: string) => decodeJson(new TextEncoder().encode(text))

function reasonOf(bytes: Uint8Array): unknown {
  try {
    return decodeJson(bytes)
  } catch (error) {
    return error instanceof JsonSyntaxError ? error.message : error
  }
}

describe('decoding', () => {
  test('keeps integers exact at any depth, under any member name and beside any value', () => {
    const text = '{"b":1.5,"0":9007199254740993,"a":[{"__proto__":9007199254740995},"9",null]}'
    expect(encodeJson(decode(text))).toBe(
      '{"0":9007199254740993,"b":1.5,"a":[{"__proto__":9007199254740995},"9",null]}',
    )
  })

  test('leaves digits inside strings and member names alone', () => {
    const text = '{"9007199254740993.0":"9007199254740993","1e5":"\\"1.0,"}'
    expect(decode(text)).toEqual({ '9007199254740993.0': '9007199254740993', '1e5': '"1.0,' })
  })

  test('reads a part of a larger buffer as that part alone', () => {
    const bytes = new TextEncoder().encode('[1][2]')
    expect(decodeJson(bytes.subarray(3))).toEqual([2])
  })

  test('strips a byte order mark also after an input that was refused', () => {
    const marked = Buffer.from('\ufeff7')
    expect(() => decodeJson(Buffer.from([0xef, 0xbb]))).toThrow(JsonSyntaxError)
    expect(decodeJson(marked)).toBe(7)
    expect(decodeJson(marked)).toBe(7)
  })
})

describe('a refusal', () => {
  test.each([
    ['of nothing at all', Buffer.of(), 'is empty'],
    ['of a byte order mark alone', Buffer.from('\ufeff'), 'is empty'],
    ['of what is not JSON', Buffer.from('{"secret":}'), 'is not valid JSON'],
    ['of what is not UTF-8', Buffer.of(0x22, 0xff, 0x22), 'is not valid UTF-8'],
  ])('%s says why', (_what, bytes, reason) => {
    expect(reasonOf(bytes)).toBe(reason)
  })

  test('keeps what the platform said as its cause', () => {
    const refusal = { name: 'JsonSyntaxError', cause: expect.any(Error) }
    expect(() => decode('{')).toThrow(expect.objectContaining(refusal))
  })
})

describe('nesting', () => {
  const nested = (open: string, close: string, depth: number) =>
    `${open.repeat(depth)}7${close.repeat(depth)}`

  test.each([
    ['arrays', '[', ']'],
    ['objects', '{"a":', '}'],
    ['arrays with white space', '[ \n', ' \t]'],
    ['objects with brackets in their member names', '{"[[{":', '}'],
    ['objects with quotes in their member names', '{"\\"[\\\\":', '}'],
  ])('of %s is taken at 64 levels and refused at 65', (_what, open, close) => {
    expect(MAX_JSON_DEPTH).toBe(64)
    expect(reasonOf(Buffer.from(nested(open, close, 64)))).toBeTypeOf('object')
    expect(reasonOf(Buffer.from(nested(open, close, 65)))).toBe('is nested deeper than 64 levels')
  })

  test('counts what is open at one time, not how many brackets there are', () => {
    expect(decode(`[${'[],{},'.repeat(400)}[]]`)).toHaveLength(801)
  })

  test('ignores brackets in strings', () => {
    const text = `["${'['.repeat(500)}\\"${'{'.repeat(500)}\\\\",[]]`
    expect(decode(text)).toHaveLength(2)
  })
})

describe('encoding', () => {
  test.each<[JsonWritable, string]>([
    [null, 'null'],
    [7, '7'],
    [-0, '0'],
    [0.1, '0.1'],
    [9223372036854775807n, '9223372036854775807'],
    [2n ** 200n, '1606938044258990275541962092341162602522202993782792835301376'],
    ['a"\\\n\u0000\u2028é🌿', '"a\\"\\\\\\n\\u0000\u2028é🌿"'],
    ['\ud800', '"\\ud800"'],
    [[1n, [2, 'x']], '[1,[2,"x"]]'],
    [{ id: 7n, name: 'Fern', tag: undefined }, '{"id":7,"name":"Fern"}'],
    [{ '"': [{ a: null }] }, '{"\\"":[{"a":null}]}'],
  ])('writes %o as %s', (value, text) => {
    expect(encodeJson(value)).toBe(text)
  })

  test('writes what JSON.stringify writes where no bigint is inside', () => {
    const value = { b: [1, 'x', { c: null }], a: 1e21, '1': true, ['__proto__']: -1.5e-9 }
    expect(encodeJson(value)).toBe(JSON.stringify(value))
  })
})

/** The largest body that the server reads by default. */
const BODY_LIMIT_BYTES = 65_536

const isPlant = (text: string) => NewPlant.safeParse(decode(text)).success

function filled(before: string, filling: string, after: string): string {
  const room = BODY_LIMIT_BYTES - before.length - after.length
  return before + filling.repeat(Math.floor(room / filling.length)) + after
}

// Nothing here is timed: an algorithm that is not linear in the body runs into vitest's own limit.
describe('a number of the length of a whole body', () => {
  const zeros = '0'.repeat(60_000)

  test.each([
    ['a one, zeros and a one', `1${zeros}1`],
    ['only digits', '9'.repeat(60_000)],
    ['a fraction of zeros and a one', `0.${zeros}1`],
    ['an integer with a fraction of zeros and a one', `7.${zeros}1`],
    ['a fraction of ones and zeros in turn', `0.${'10'.repeat(30_000)}`],
    ['an exponent of a billion', '1e1000000000'],
    ['an exponent of minus a billion', '1e-1000000000'],
    ['an exponent of nines', `1e${'9'.repeat(60_000)}`],
    ['a negative exponent of nines', `1e-${'9'.repeat(60_000)}`],
    ['many digits with a huge exponent', `${'7'.repeat(30_000)}e${'9'.repeat(30_000)}`],
  ])('is no id: %s', (_what, literal) => {
    expect(isPlant(`{"id":${literal},"name":"Fern"}`)).toBe(false)
  })

  test.each([
    ['zeros and the exponent that takes them away', `7${zeros}e-60000`, 7],
    ['a fraction of zeros and the exponent that moves the point', `0.${zeros}7e60001`, 7],
    ['a fraction of zeros alone', `7.${zeros}`, 7],
    ['zeros in the exponent', `7e${zeros}`, 7],
    ['zero with an exponent of nines', `0e${'9'.repeat(60_000)}`, 0],
    ['the largest int64 and zeros', `9223372036854775807.${zeros}`, 9223372036854775807n],
  ])('is an id: %s', (_what, literal, id) => {
    expect(decode(literal)).toBe(id)
    expect(isPlant(`{"id":${literal},"name":"Fern"}`)).toBe(true)
  })

  test('is read in one pass, so that ten times its length is no matter', () => {
    const tenfold = '0'.repeat(600_000)
    expect(decode(`1${tenfold}1`)).toBe(Number.POSITIVE_INFINITY)
    expect(decode(`0.${tenfold}1`)).toBeNaN()
    expect(decode(`7${tenfold}e-600000`)).toBe(7)
  })

  test('is no JSON where zeros lead it', () => {
    expect(() => decode(`{"id":${zeros}1,"name":"Fern"}`)).toThrow(JsonSyntaxError)
  })
})

describe('a body of brackets', () => {
  test.each([
    ['30,000 nested arrays', '['.repeat(30_000) + ']'.repeat(30_000)],
    ['10,000 nested objects', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`],
    ['60,000 opening brackets', '['.repeat(60_000)],
    ['60,000 closing brackets', ']'.repeat(60_000)],
    ['brackets behind an open quote', `["${'['.repeat(60_000)}`],
  ])('is refused without overflowing the stack: %s', (_what, text) => {
    expect(() => decode(text)).toThrow(JsonSyntaxError)
  })

  test.each([
    ['[]', 1],
    ['{ }', 1],
    ['7', 1],
    ['"a,[]{}"', 1],
    ['[[7, 8]]', 4],
    ['{"a":[{}, 7]}', 4],
  ])('is taken with 1,000 values and refused with more, such as %s', (value, each) => {
    const list = (count: number) => Buffer.from(`[ ${Array(count).fill(value).join(' , ')}\n]`)
    const most = Math.floor((MAX_JSON_VALUES - 1) / each)
    expect(reasonOf(list(most))).toHaveLength(most)
    expect(reasonOf(list(most + 1))).toBe('holds more than 1000 values')
  })
})

describe('a body of many small things', () => {
  test.each([
    ['quotes behind backslashes', filled('{"id":7,"name":"', '\\"', '"}')],
    ['backslashes', filled('{"id":7,"name":"', '\\\\', '"}')],
    ['escaped surrogate pairs', filled('{"id":7,"name":"', '\\ud83c\\udf3f', '"}')],
    ['brackets in a string', filled('{"id":7,"name":"', '[{', '"}')],
    ['white space', filled('{"id":7,', ' ', '"name":"Fern"}')],
    ['digits in a string', filled('{"id":7,"name":"Fern","x":"', '123456789012345 ', '"}')],
  ])('is read to its end: %s', (_what, text) => {
    expect(text.length).toBeGreaterThan(65_000)
    expect(isPlant(text)).toBe(true)
  })

  test.each([
    ['one backslash too many', filled('{"id":7,"name":"', '\\\\', '\\"}')],
    ['backslashes and no end', filled('"', '\\', '')],
    ['quotes', '"'.repeat(65_536)],
    ['commas', filled('[', ',', ']')],
    ['minus signs', filled('[', '-', ']')],
    ['fractions in an unknown member', filled('{"id":7,"name":"Fern","x":[', '1.5,', '1]}')],
    ['exact integers', filled('{"id":7,"name":"Fern","x":[', '9007199254740993,', '1]}')],
    ['one member repeated', filled('{', '"id":7.0,', '"name":"Fern"}')],
    ['empty objects', filled('{"id":7.0,"name":"Fern","x":[', '{},', '{}]}')],
    ['bytes that UTF-8 does not know', ''],
  ])('is refused: %s', (_what, text) => {
    const bytes = text === '' ? Buffer.alloc(65_536, 0xff) : Buffer.from(text)
    expect(() => decodeJson(bytes)).toThrow(JsonSyntaxError)
  })

  test('is refused in its last character where that is U+0000 or a lone surrogate', () => {
    expect(isPlant(filled('{"id":7,"name":"', 'a', '\\u0000"}'))).toBe(false)
    expect(isPlant(filled('{"id":7,"name":"', '🌿', '\\ud83c"}'))).toBe(false)
  })
})
