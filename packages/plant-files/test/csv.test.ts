import { describe, expect, test } from 'vitest'
import { PlantFileError } from '../src/plant-record.ts'
import { readAll } from './read.ts'

const both = [
  { id: 1n, name: 'Fern' },
  { id: 2n, name: 'Moss', tag: 'indoor' },
]

function spanOf(from: number, through: number): string {
  return `the quote that opens on line ${from} makes one record of all through line ${through}, and nothing of it is stored`
}

describe('csv is read', () => {
  test.each([
    ['without a line feed at the end', 'id,name,tag\n1,Fern,\n2,Moss,indoor'],
    ['with CR LF', 'id,name,tag\r\n1,Fern,\r\n2,Moss,indoor\r\n'],
    ['with a byte order mark', '\ufeffid,name,tag\n1,Fern,\n2,Moss,indoor\n'],
    ['with a byte order mark before a quote', '\ufeff"id",name,tag\n1,Fern,\n2,Moss,indoor\n'],
    ['with empty lines', 'id,name,tag\n\n1,Fern,\r\n\r\n2,Moss,indoor\n\n'],
    ['with everything quoted but the absent tag', 'id,name,tag\n"1","Fern",\n"2","Moss","indoor"'],
    [
      'with columns in another order and unknown ones',
      'tag,size,name,id\n,9,Fern,1\nindoor,,Moss,2',
    ],
  ])('%s', async (_how, content) => {
    for (const pieceBytes of [1, 65_536]) {
      const read = await readAll('csv', content, pieceBytes)
      expect(read.map(([, plant]) => plant)).toEqual(both)
    }
  })

  test('with no column for tags', async () => {
    expect(await readAll('csv', 'id,name\n1,Fern\n')).toEqual([[2, both[0]]])
  })

  test('with line breaks inside quotes, counting lines as an editor does', async () => {
    const content = 'id,name,tag\r\n1,"a\r\nb\n\nc",\r\nx,,\r\n2,Moss,indoor'
    expect(await readAll('csv', content)).toEqual([
      [2, { id: 1n, name: 'a\r\nb\n\nc' }],
      [6, expect.stringMatching(/^id: must be an integer .*; name: is required$/)],
      [7, both[1]],
    ])
  })
})

describe('a record that is no plant is reported by its line, and the next one is read', () => {
  test.each([
    [
      'an id as spreadsheets shorten it',
      '1.23E+15,x,',
      'id: 1.23E+15 is a number as spreadsheets shorten it; its last digits are lost',
    ],
    ['the same with a comma', '"1,23E+15",x,', expect.stringMatching(/spreadsheets shorten/)],
    ['an id with a fraction', '1.0,x,', expect.stringMatching(/^id: must be an integer/)],
    ['an id beyond int64', '9223372036854775808,x,', expect.stringMatching(/^id: must be an int/)],
    ['digits without end', '9'.repeat(60_000), expect.stringMatching(/^has 1 fields where the/)],
    ['an id that is missing', ',x,', 'id: is required'],
    ['a name that is missing', '1,,', 'name: is required'],
    ['too few fields', '1,x', 'has 2 fields where the first line has 3'],
    ['too many fields', '1,x,y,z', 'has 4 fields where the first line has 3'],
    ['a quote inside a plain field', '1,5" pot,', 'has a quote inside a field that is not quoted'],
    ['text behind a quote', '1,"a"b,', 'has text behind a closing quote'],
    ['a lone carriage return', '1,a\rb,', 'has a carriage return outside quotes'],
    ['U+0000', '1,a\u0000b,', expect.stringMatching(/^name: must be well-formed/)],
  ])('%s', async (_what, record, problem) => {
    for (const pieceBytes of [1_000, 65_536]) {
      const content = `id,name,tag\n1,Fern,\n${record}\n2,Moss,indoor\n`
      expect(await readAll('csv', content, pieceBytes)).toEqual([
        [2, both[0]],
        [3, problem],
        [4, both[1]],
      ])
    }
  })

  test('invalid UTF-8', async () => {
    const content = Buffer.from('id,name,tag\n1,a\xff,\n2,Moss,indoor', 'latin1')
    expect(await readAll('csv', content)).toEqual([
      [2, 'is not valid UTF-8'],
      [3, both[1]],
    ])
  })

  test('a quote that is never closed', async () => {
    expect(await readAll('csv', 'id,name,tag\n1,"Fern,\n2,Moss,indoor\n')).toEqual([
      [2, `has a quote that is never closed; ${spanOf(2, 3)}`],
    ])
  })

  test.each<[string, string, [number, unknown][]]>([
    [
      'that the next one closes',
      '1,Fern,\n2,"Moss,\n3,"Ivy",\n4,Rue,\n',
      [
        [3, `has text behind a closing quote; ${spanOf(3, 4)}`],
        [5, { id: 4n, name: 'Rue' }],
      ],
    ],
    [
      'in a later column, closed as a record of other columns',
      '1,Fern,"\n2,Moss,\n3,Ivy,"x,y\n4,Rue,\n',
      [
        [2, `has text behind a closing quote; ${spanOf(2, 4)}`],
        [5, { id: 4n, name: 'Rue' }],
      ],
    ],
    [
      'that opens on a later line of its record',
      '"1\n","Moss\n\n",x,y\n4,Rue,\n',
      [
        [2, `has 4 fields where the first line has 3; ${spanOf(2, 5)}`],
        [6, { id: 4n, name: 'Rue' }],
      ],
    ],
    [
      'for more than the limit',
      `1,"${'x\n'.repeat(40_000)}4,Rue,\n`,
      expect.arrayContaining([
        [2, expect.stringMatching(/never closed; the quote that opens on line 2 .* line 32770,/)],
        [40_002, { id: 4n, name: 'Rue' }],
      ]),
    ],
  ])('a quote %s, with the lines that it took in', async (_how, content, expected) => {
    const read = await readAll('csv', `id,name,tag\n${content}`)
    expect(Array.isArray(expected) ? read.slice(-expected.length) : read).toEqual(expected)
  })

  test('more fields than any plants have', async () => {
    const content = `id,name,tag\n1,Fern,${','.repeat(2_000)}\n2,Moss,indoor\n`
    expect(await readAll('csv', content)).toEqual([
      [2, 'has more than 1024 fields'],
      [3, both[1]],
    ])
    const wide = `id,name${',x'.repeat(1_022)}\n1,Fern${',y'.repeat(1_022)}\n`
    expect(await readAll('csv', wide)).toEqual([[2, both[0]]])
    await expect(readAll('csv', wide.replace('name', 'name,x'))).rejects.toThrow(
      'the first line has more than 1024 fields. Try: a first line that is id,name,tag',
    )
  })

  test('more than the limit', async () => {
    const content = `id,name,tag\n1,${'x'.repeat(200_000)},\n2,Moss,indoor\n`
    expect(await readAll('csv', content)).toEqual([
      [2, expect.stringMatching(/^is longer than 65536 bytes; --body-limit-bytes allows more/)],
      [3, both[1]],
    ])
  })
})

describe('a file whose first line does not name the columns is refused', () => {
  test.each([
    ['empty', '', /^it is empty\. Try: a first line that is id,name,tag/],
    ['without a header', '1,Fern,\n', /^the first line names no column id\. Try: /],
    ['with a column twice', 'id,name,name\n', /^the first line names name twice/],
    ['with another separator', 'id;name;tag\n', /^the first line names no column id/],
    ['that is no csv', '{"id":1,"name":"Fern"}\n', /^the first line has a quote inside a field/],
  ])('%s', async (_what, content, message) => {
    await expect(readAll('csv', content)).rejects.toThrow(PlantFileError)
    await expect(readAll('csv', content)).rejects.toThrow(message)
  })
})
