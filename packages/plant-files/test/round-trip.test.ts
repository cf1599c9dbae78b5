import { INT64_MAX, INT64_MIN, type NewPlant } from '@plant-store/contract'
import { describe, expect, test } from 'vitest'
import { readAll, writeAll } from './read.ts'

const texts = [
  '',
  'Fern',
  ' spaces around ',
  'a,b;c\td',
  '"',
  '""',
  'a "quoted" word',
  'two\nlines',
  'two\r\nlines',
  'a lone \r return',
  '\n',
  ',',
  '=1+1',
  '\u0001\u001b[31m\u007f',
  '\u2028\u2029',
  '\ufeffmark',
  'é e\u0301 🌿 \u{10ffff} \ufffe',
]

const ids = [INT64_MIN, -(2n ** 53n) - 1n, -1n, 0n, 7n, 2n ** 53n + 1n, INT64_MAX]

const plants: NewPlant[] = texts.flatMap((name, index) => {
  const id = ids[index % ids.length] ?? 0n
  return [{ id, name }, ...texts.map((tag) => ({ id, name, tag }))]
})

describe.each(['jsonl', 'csv'] as const)('%s', (format) => {
  test.each([1, 2, 3, 7, 64, 65_536])(
    'gives back every id, name and tag to the letter, read %i bytes at a time',
    async (pieceBytes) => {
      const read = await readAll(format, writeAll(format, plants), pieceBytes)
      expect(read.map(([, plant]) => plant)).toStrictEqual(plants)
    },
  )
})

test('jsonl is an object on each line, its id a bare integer', () => {
  expect(writeAll('jsonl', [{ id: INT64_MAX, name: 'a\n"b"', tag: '' }])).toBe(
    '{"id":9223372036854775807,"name":"a\\n\\"b\\"","tag":""}\n',
  )
})

test('csv has a header, quotes where RFC 4180 asks for them, and lines that end with LF', () => {
  const written = writeAll('csv', [
    { id: 1n, name: 'Fern' },
    { id: 2n, name: 'Fern, "old"', tag: '' },
    { id: 3n, name: 'two\nlines', tag: 'indoor' },
  ])
  expect(written).toBe('id,name,tag\n1,Fern,\n2,"Fern, ""old""",""\n3,"two\nlines",indoor\n')
})
