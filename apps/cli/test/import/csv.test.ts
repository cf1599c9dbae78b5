import { describe, expect, test } from 'vitest'
import { PlantFileError } from '../../src/import/plant-record.ts'
import { open, readAll, recordsOf } from './read.ts'

const both = [
  { id: 1n, name: 'Fern' },
  { id: 2n, name: 'Moss', tag: 'indoor' },
]

const UNCLOSED = 'has a quote that is never closed'

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
      [6, expect.stringMatching(/^id: "x" must be an integer .*; name: is required$/)],
      [7, both[1]],
    ])
  })
})

describe('a record that is no plant is reported by its line, and the next one is read', () => {
  test.each([
    [
      'an id as spreadsheets shorten it',
      '1.23E+15,x,',
      'id: "1.23E+15" is a number as spreadsheets shorten it; its last digits are lost',
    ],
    ['the same with a comma', '"1,23E+15",x,', expect.stringMatching(/spreadsheets shorten/)],
    ['an id with a fraction', '1.0,x,', expect.stringMatching(/^id: "1.0" must be an integer/)],
    [
      'an id beyond int64',
      '9223372036854775808,x,',
      expect.stringMatching(/^id: "9223372036854775808" must be/),
    ],
    ['digits without end', '9'.repeat(60_000), expect.stringMatching(/^has 1 field where the/)],
    ['an id that is missing', ',x,', 'id: is required'],
    ['a name that is missing', '1,,', 'name: is required'],
    ['too few fields', '1,x', 'has 2 fields where the first line has 3'],
    ['too many fields', '1,x,y,z', 'has 4 fields where the first line has 3'],
    ['a quote inside a plain field', '1,5" pot,', 'has a quote inside a field that is not quoted'],
    ['text behind a quote', '1,"a"b,', 'has text behind a closing quote'],
    ['a lone carriage return', '1,a\rb,', 'has a carriage return outside quotes'],
    ['U+0000', '1,a\u0000b,', expect.stringMatching(/^name: "a.u0000b" must be well-formed/)],
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

  test('with the column as the file names it, and its value', async () => {
    const file = await open(`Name; ID \n;${'9'.repeat(50)}\n`)
    expect((await recordsOf(file)).map(({ problems }) => problems)).toEqual([
      [
        {
          column: 'ID',
          value: `"${'9'.repeat(39)}…"`,
          message: expect.stringMatching(/^must be an integer between/),
        },
        { column: 'Name', value: undefined, message: 'is required' },
      ],
    ])
  })
})

describe('a quote that is never closed costs its own line', () => {
  test.each<[string, string, [number, unknown][]]>([
    [
      'at the end of the file',
      '1,"Fern,\n2,Moss,indoor\n',
      [
        [2, UNCLOSED],
        [3, both[1]],
      ],
    ],
    [
      'before the next one, which closes it',
      '1,Fern,\n2,"Moss,\n3,"Ivy",\n4,Rue,\n',
      [
        [2, both[0]],
        [3, UNCLOSED],
        [4, { id: 3n, name: 'Ivy' }],
        [5, { id: 4n, name: 'Rue' }],
      ],
    ],
    [
      'in a later column',
      '1,Fern,"\n2,Moss,indoor\n3,Ivy,"x,y\n4,Rue,\n',
      [
        [2, UNCLOSED],
        [3, both[1]],
        [4, UNCLOSED],
        [5, { id: 4n, name: 'Rue' }],
      ],
    ],
    [
      'behind text in the same line, before another such line',
      '1,5" pot,"\n2,Moss,indoor\n3,"a"b,"\n',
      [
        [2, 'has a quote inside a field that is not quoted'],
        [3, both[1]],
        [4, 'has text behind a closing quote'],
      ],
    ],
  ])('%s', async (_how, content, expected) => {
    for (const pieceBytes of [1, 7, 65_536]) {
      expect(await readAll('csv', `id,name,tag\n${content}`, pieceBytes)).toEqual(expected)
    }
  })

  test('where more follows than the limit', async () => {
    const rows = Array.from({ length: 200_000 }, (_, id) => `${id},Fern,\n`)
    const read = await readAll('csv', `id,name,tag\n1,"${rows.join('')}`)
    expect(read[0]).toEqual([2, 'has a quote that is not closed within 1048576 bytes'])
    expect(read.slice(1)).toHaveLength(rows.length - 1)
    expect(read.at(-1)).toEqual([200_001, { id: 199_999n, name: 'Fern' }])
  })

  test('but quotes that are all right join lines, and a problem names them', async () => {
    expect(await readAll('csv', 'id,name,tag\n"1\n","Moss\n\n",x,y\n4,Rue,\n')).toEqual([
      [
        2,
        'has 4 fields where the first line has 3; quotes make one record of lines 2 to 5, and nothing of it is stored',
      ],
      [6, { id: 4n, name: 'Rue' }],
    ])
  })
})

describe('of a record that has', () => {
  test('more fields than any plants have', async () => {
    const content = `id,name,tag\n1,Fern,${','.repeat(2_000)}\n2,Moss,indoor\n`
    expect(await readAll('csv', content)).toEqual([
      [2, 'has more than 1024 fields'],
      [3, both[1]],
    ])
    const wide = `id,name${',x'.repeat(1_022)}\n1,Fern${',y'.repeat(1_022)}\n`
    expect(await readAll('csv', wide)).toEqual([[2, both[0]]])
  })

  test('more than the limit', async () => {
    const content = `id,name,tag\n1,${'x'.repeat(2_000_000)},\n2,Moss,indoor\n`
    expect(await readAll('csv', content)).toEqual([
      [2, expect.stringMatching(/^is longer than 1048576 bytes$/)],
      [3, both[1]],
    ])
  })
})

describe('a record of two lines', () => {
  const head = 'id,name,tag\n'
  const record = (bytes: number) => `1,Fern,"\n${'x'.repeat(bytes - 10)}"`

  test.each(['', '\n', '\r\n'])('is kept to the byte of the limit, before %j', async (end) => {
    const kept = await readAll('csv', `${head}${record(1_048_576)}${end}`)
    expect(kept).toMatchObject([[2, { id: 1n, name: 'Fern' }]])
    for (const more of [1, 2]) {
      const refused = await readAll('csv', `${head}${record(1_048_576 + more)}${end}`)
      expect(refused[0]).toEqual([2, expect.stringMatching(/ 1048576 bytes$/)])
    }
  })
})

describe('a file whose first line does not name the columns is refused', () => {
  test.each([
    ['empty', '', /^it is empty\. Try: a first line id,name,tag/],
    [
      'without one of them',
      'No,name\n1,Fern\n',
      /^the first line names no column id: its columns are "No", "name"\. Try: --map /,
    ],
    ['with a column twice', 'id,name,Name \n', /^2 of its columns are the name: "name", "Name "/],
    ['with another separator', 'id|name|tag\n', /^the first line names no column id/],
    ['that is no csv', '{"id":1,"name":"Fern"}\n', /^the first line has a quote inside a field/],
    ['with a quote that is never closed', '"id,name\n1,Fern\n', /^the first line has a quote that/],
  ])('%s', async (_what, content, message) => {
    await expect(readAll('csv', content)).rejects.toThrow(PlantFileError)
    await expect(readAll('csv', content)).rejects.toThrow(message)
  })
})
