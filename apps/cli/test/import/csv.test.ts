import { describe, expect, test } from 'vitest'
import { openPlantFile } from '../../src/import/plant-file.ts'
import { readAll, recordsOf } from './read.ts'

const LIMIT = 1_048_576
const OPEN = 'has a quote that is never closed'
const BEHIND = 'has text behind a closing quote'
const INSIDE = 'has a quote inside a field that is not quoted'
const SHORT = 'is a number as spreadsheets shorten it; its last digits are lost'
const INT64 = 'must be an integer between -9223372036854775808 and 9223372036854775807'
const TWO_TO_FIVE = 'quotes make one record of lines 2 to 5, and nothing of it is stored'

describe('csv is read', () => {
  test.each([
    ['without a line feed at the end', 'id,name,tag\n1,Fern,\n2,Moss,indoor'],
    ['with CR LF', 'id,name,tag\r\n1,Fern,\r\n2,Moss,indoor\r\n'],
    ['with a byte order mark', '\ufeffid,name,tag\n1,Fern,\n2,Moss,indoor\n'],
    ['with a byte order mark before a quote', '\ufeff"id",name,tag\n1,Fern,\n2,Moss,indoor\n'],
    ['with empty lines', 'id,name,tag\n\n1,Fern,\r\n\r\n2,Moss,indoor\n\n'],
    ['with everything quoted', '"id","name","tag"\n"1","Fern",""\n"2","Moss","indoor"'],
    ['with columns in another order and others', 'tag,size,name,id\n,9,Fern,1\nindoor,,Moss,2'],
    ['with no column for tags', 'id,name\n1,Fern\n2,Moss (indoor)\n'],
  ])('%s', async (_how, content) => {
    for (const pieceBytes of [1, 65_536]) {
      const read = await readAll(content, { pieceBytes })
      expect(read.map((text) => text.replace(/^\d+: /, ''))).toEqual(['1 Fern', '2 Moss (indoor)'])
    }
  })

  test('with line breaks inside quotes, counting lines as an editor does', async () => {
    const content = 'id,name,tag\r\n1,"a\r\nb\n\nc",\r\nx,,\r\n2,Moss,indoor'
    const problems = `6: id: "x" ${INT64}; name: is required`
    expect(await readAll(content)).toEqual(['2: 1 a\r\nb\n\nc', problems, '7: 2 Moss (indoor)'])
  })
})

describe('a record that is no plant is reported by its line, and the next one is read', () => {
  test.each([
    ['an id as spreadsheets shorten it', '1.23E+15,x,', `id: "1.23E+15" ${SHORT}`],
    ['the same with a comma', '"1,23E+15",x,', `id: "1,23E+15" ${SHORT}`],
    ['an id with a fraction', '1.0,x,', `id: "1.0" ${INT64}`],
    ['an id beyond int64', '9223372036854775808,x,', `id: "9223372036854775808" ${INT64}`],
    ['digits without end', '9'.repeat(60_000), 'has 1 field where the first line has 3'],
    ['an id that is missing', ',x,', 'id: is required'],
    ['a name that is missing', '1,,', 'name: is required'],
    ['a name that is quoted and empty', '1,"",x', 'name: is required'],
    ['too few fields', '1,x', 'has 2 fields where the first line has 3'],
    ['too many fields', '1,x,y,z', 'has 4 fields where the first line has 3'],
    ['a quote inside a plain field', '1,5" pot,', INSIDE],
    ['text behind a quote', '1,"a"b,', BEHIND],
    ['a lone carriage return', '1,a\rb,', 'has a carriage return outside quotes'],
    ['U+0000', '1,a\0b,', 'name: "a\\u0000b" must be well-formed Unicode without U+0000'],
    ['more fields than any plants have', `1,x,${','.repeat(2_000)}`, 'has more than 1024 fields'],
    ['more bytes than the limit', `1,${'x'.repeat(2_000_000)},`, `is longer than ${LIMIT} bytes`],
  ])('%s', async (_what, record, problem) => {
    for (const pieceBytes of [1_000, 65_536]) {
      const content = `id,name,tag\n1,Fern,\n${record}\n2,Moss,indoor\n`
      const expected = ['2: 1 Fern', `3: ${problem}`, '4: 2 Moss (indoor)']
      expect(await readAll(content, { pieceBytes })).toEqual(expected)
    }
  })
})

describe('a quote that is never closed costs its own line', () => {
  test.each([
    ['at the end of the file', '1,"F,\n2,M,\n', `2: ${OPEN} | 3: 2 M`],
    ['before one that closes it', '1,"F,\n2,"M",\n3,R,\n', `2: ${OPEN} | 3: 2 M | 4: 3 R`],
    [
      'in a later column',
      '1,F,"\n2,M,\n3,I,"x,y\n4,R,\n',
      `2: ${OPEN} | 3: 2 M | 4: ${OPEN} | 5: 4 R`,
    ],
    ['behind text', '1,5" pot,"\n2,M,\n3,"a"b,"\n', `2: ${INSIDE} | 3: 2 M | 4: ${BEHIND}`],
    [
      'but quotes that are all right join lines, and a problem names them',
      '"1\n","M\n\n",x,y\n4,R,\n',
      `2: has 4 fields where the first line has 3; ${TWO_TO_FIVE} | 6: 4 R`,
    ],
  ])('%s', async (_how, content, expected) => {
    for (const pieceBytes of [1, 7, 65_536]) {
      const read = await readAll(`id,name,tag\n${content}`, { pieceBytes })
      expect(read.join(' | ')).toBe(expected)
    }
  })

  test('where more follows than the limit', async () => {
    const rows = Array.from({ length: 200_000 }, (_, id) => `${id},Fern,\n`)
    const read = await readAll(`id,name,tag\n1,"${rows.join('')}`)
    expect(read[0]).toBe(`2: has a quote that is not closed within ${LIMIT} bytes`)
    expect(read.slice(1)).toHaveLength(rows.length - 1)
    expect(read.at(-1)).toBe('200001: 199999 Fern')
  })
})

test('a record has as many fields as the limit', async () => {
  const wide = `id,name${',x'.repeat(1_022)}\n1,Fern${',y'.repeat(1_022)}\n`
  expect(await readAll(wide)).toEqual(['2: 1 Fern'])
})

test.each(['', '\n', '\r\n'])(
  'a record of two lines is kept to the limit, before %j',
  async (end) => {
    const recordOf = (bytes: number) => `1,Fern,"\n${'x'.repeat(bytes - 10)}"`
    const read = async (bytes: number) =>
      (await readAll(`id,name,tag\n${recordOf(bytes)}${end}`))[0]
    expect(await read(LIMIT)).toMatch(/^2: 1 Fern/)
    for (const more of [1, 2]) expect(await read(LIMIT + more)).toMatch(/^2: .* 1048576 bytes$/)
  },
)

test('a row of 512 MiB is not held in memory', { timeout: 60_000 }, async () => {
  const before = process.memoryUsage().arrayBuffers
  let most = 0
  async function* chunks() {
    yield Buffer.from('id,name\n1,')
    for (let count = 0; count < 8_192; count++) {
      yield Buffer.alloc(65_536, 'x')
      most = Math.max(most, process.memoryUsage().arrayBuffers - before)
    }
  }
  const file = await openPlantFile(chunks(), 'plants.csv', {})
  const [record] = await recordsOf(file)
  expect(record?.problems).toEqual([{ message: `is longer than ${LIMIT} bytes` }])
  expect(record?.source.length).toBe(1_000)
  expect(most).toBeLessThan(256 << 20)
})
