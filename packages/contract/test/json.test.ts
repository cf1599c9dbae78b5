import { describe, expect, test } from 'vitest'
import {
  decodeJson,
  encodeJson,
  JsonSyntaxError,
  type JsonWritable,
  MAX_JSON_DEPTH,
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
    ['of deep nesting', Buffer.from('['.repeat(65 * 2)), 'is nested deeper than 64 levels'],
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
    expect(decode(`[${'[],{},'.repeat(1000)}[]]`)).toHaveLength(2001)
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
