import { describe, expect, test } from 'vitest'
import { open, readAll, recordsOf } from './read.ts'

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
    for (const line of [
      `{"id":${id},"name":"Fern"}`,
      `{"name":"\\"id\\":3,","tag":"{[","x":[{"id":4}],"id":1, "\\u0069d" :\t${id} }`,
    ]) {
      const [[, problem] = []] = await readAll('jsonl', `${line}\n`)
      expect(problem).toMatch(/^id: .* must be an integer between/)
      expect(String(problem).slice(0, 4 + shown.length)).toBe(`id: ${shown}`)
    }
  })

  test('invalid UTF-8', async () => {
    const broken = Buffer.from('{"id":1,"name":"\xff\xfe"}', 'latin1')
    const content = Buffer.concat([broken, Buffer.from(`\n${moss}`)])
    expect((await open(content)).dialect.doubts).toEqual([
      { question: expect.stringContaining('JSON is always UTF-8'), flag: '--encoding' },
    ])
    const reader = await open(content, { encoding: 'utf-8' })
    expect((await recordsOf(reader)).map(({ problem, plant }) => problem ?? plant)).toEqual([
      'is not valid UTF-8. Try: --encoding windows-1252',
      both[1],
    ])
  })

  test('more than the limit, which is kept to the byte', async () => {
    const lineOf = (bytes: number) => `{"id":1,"name":"${'x'.repeat(bytes - 18)}"}`
    const content = `${lineOf(65_536)}\n${lineOf(65_537)}\n${moss}\n`
    expect(await readAll('jsonl', content, 1_000)).toEqual([
      [1, { id: 1n, name: 'x'.repeat(65_518) }],
      [2, 'is longer than 65536 bytes'],
      [3, both[1]],
    ])
  })
})
