import { describe, expect, test } from 'vitest'
import { readAll } from './read.ts'

const LIMIT = 1_048_576
const fern = '{"id":1,"name":"Fern"}'
const moss = '{"id":2,"name":"Moss"}'

const read = (content: string, pieceBytes = 65_536) =>
  readAll(content, { format: 'jsonl', pieceBytes })

describe('jsonl is read', () => {
  test.each([
    ['with a byte order mark, CR LF and empty lines', `\ufeff\n${fern}\r\n\r\n\n${moss}`],
    ['with unknown members', `{"id":1,"name":"Fern","size":[1]}\n${moss}\n`],
    ['with other spellings of an id', `{"id":1.0,"name":"Fern"}\n{"id":20e-1,"name":"Moss"}\n`],
  ])('%s', async (_how, content) => {
    const meanings = (await read(content)).map((text) => text.replace(/^\d+: /, ''))
    expect(meanings).toEqual(['1 Fern', '2 Moss'])
  })
})

describe('a line that is no plant is reported by its number, and the next one is read', () => {
  test.each([
    ['not JSON', 'nope', 'is not valid JSON'],
    ['cut short', '{"id":1,"na', 'is not valid JSON'],
    ['two values', `${fern}${fern}`, 'is not valid JSON'],
    ['blanks', '   ', 'is not valid JSON'],
    ['a name that is missing', '{"id":1}', 'name: is required'],
    ['nesting', `${'['.repeat(1000)}`, 'is nested deeper than 64 levels'],
  ])('%s', async (_what, line, problem) => {
    const expected = ['1: 1 Fern', `2: ${problem}`, '3: 2 Moss']
    expect(await read(`${fern}\n${line}\n${moss}\n`)).toEqual(expected)
  })

  test.each([
    ['70.13', '70.13 '],
    ['12345678901234567890', '12345678901234567890 '],
    ['-1e999', '-1e999 '],
    ['9007199254740993.5', '9007199254740993.5 '],
    ['1.00000000000000000001', '1.00000000000000000001 '],
    ['"70.13"', '"70.13" '],
    ['"null"', '"null" '],
    ['null', 'null '],
    ['true', 'true '],
    ['[70.13]', '[…] '],
    ['{"id":5}', '{…} '],
    [`${'1'.repeat(50)}`, `${'1'.repeat(39)}… `],
  ])('an id that is %s, with each digit', async (id, shown) => {
    const [problem = ''] = await read(`{"name":"n","id" :\t${id} }\n`)
    expect(problem).toMatch(/^1: id: .* must be an integer between/)
    expect(problem.slice(0, 7 + shown.length)).toBe(`1: id: ${shown}`)
    const [other] = await read(`{"\\u0069d":${id},"x":{"id":4},"name":"\\"id\\":3,"}\n`)
    expect(other).not.toMatch(/^1: id: [34] /)
  })

  test('more than the limit, which is kept to the byte', async () => {
    const nameOf = (bytes: number) => 'x'.repeat(bytes - 18)
    const lineOf = (bytes: number) => `{"id":1,"name":"${nameOf(bytes)}"}`
    expect(await read(`${lineOf(LIMIT)}\n${lineOf(LIMIT + 1)}\n${moss}\n`, 1_000)).toEqual([
      `1: 1 ${nameOf(LIMIT)}`,
      `2: is longer than ${LIMIT} bytes`,
      '3: 2 Moss',
    ])
  })
})
