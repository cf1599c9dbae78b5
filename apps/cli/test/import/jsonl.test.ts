import { describe, expect, test } from 'vitest'
import { readAll } from './read.ts'

const fern = '{"id":1,"name":"Fern"}'
const moss = '{"id":2,"name":"Moss"}'
const both = [
  { id: 1n, name: 'Fern' },
  { id: 2n, name: 'Moss' },
]

describe('jsonl is read', () => {
  test.each([
    ['without a line feed at the end', `${fern}\n${moss}`],
    ['with CR LF', `${fern}\r\n${moss}\r\n`],
    ['with a byte order mark', `\ufeff${fern}\n${moss}\n`],
    ['with empty lines', `\n${fern}\n\r\n\n${moss}\n\n`],
    ['with unknown members', `{"id":1,"name":"Fern","size":[1]}\n${moss}\n`],
    ['with other spellings of an id', `{"id":1.0,"name":"Fern"}\n{"id":20e-1,"name":"Moss"}\n`],
  ])('%s', async (_how, content) => {
    expect((await readAll('jsonl', content)).map(([, plant]) => plant)).toEqual(both)
  })

  test('when it is empty, as no plants', async () => {
    expect(await readAll('jsonl', '')).toEqual([])
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
    expect(await readAll('jsonl', `${fern}\n${line}\n${moss}\n`)).toEqual([
      [1, both[0]],
      [2, problem],
      [3, both[1]],
    ])
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
    const [[, problem] = []] = await readAll('jsonl', `{"name":"n","id" :\t${id} }\n`)
    expect(problem).toMatch(/^id: .* must be an integer between/)
    expect(String(problem).slice(0, 4 + shown.length)).toBe(`id: ${shown}`)
    const other = `{"\\u0069d":${id},"x":{"id":4},"name":"\\"id\\":3,"}\n`
    expect((await readAll('jsonl', other))[0]?.[1]).not.toMatch(/^id: [34] /)
  })

  test('more than the limit, which is kept to the byte', async () => {
    const most = 1_048_576
    const lineOf = (bytes: number) => `{"id":1,"name":"${'x'.repeat(bytes - 18)}"}`
    const content = `${lineOf(most)}\n${lineOf(most + 1)}\n${moss}\n`
    expect(await readAll('jsonl', content, 1_000)).toEqual([
      [1, { id: 1n, name: 'x'.repeat(most - 18) }],
      [2, `is longer than ${most} bytes`],
      [3, both[1]],
    ])
  })
})
