import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { Column, Dialect, ReadOptions } from '../src/dialect.ts'
import { open, recordsOf } from './read.ts'

const latin1 = (text: string) => Buffer.from(text, 'latin1')
const utf16 = (text: string) => Buffer.from(text, 'utf16le')

interface Export {
  readonly bytes: Buffer
  readonly dialect: Partial<Dialect>
  readonly options?: Partial<ReadOptions>
}

const columns: readonly Column[] = [
  { name: 'ID', field: 'id' },
  { name: 'Name', field: 'name' },
  { name: 'Tag', field: 'tag' },
]

/** The same three plants as programs write them: an umlaut, a quote with a delimiter, no tag. */
const exports: Readonly<Record<string, Export>> = {
  'Excel for Windows in Germany, "CSV (Trennzeichen-getrennt)"': {
    bytes: latin1(
      'ID;Name;Tag\r\n1;Frauenschuh gr\xfcn;innen\r\n2;"5"" Topf; klein";\r\n3;Caf\xe9;innen\r\n',
    ),
    dialect: { delimiter: ';', encoding: 'windows-1252', hasByteOrderMark: false, columns },
  },
  'Excel in the USA, "CSV UTF-8"': {
    bytes: Buffer.from(
      '\ufeffID,Name,Tag\r\n1,Frauenschuh grün,innen\r\n2,"5"" Topf; klein",\r\n3,Café,innen\r\n',
    ),
    dialect: { delimiter: ',', encoding: 'utf-8', hasByteOrderMark: true, columns },
  },
  'Excel, "Unicode Text"': {
    bytes: utf16(
      '\ufeffID\tName\tTag\r\n1\tFrauenschuh grün\tinnen\r\n2\t"5"" Topf; klein"\t\r\n3\tCafé\tinnen\r\n',
    ),
    dialect: { delimiter: '\t', encoding: 'utf-16le', hasByteOrderMark: true, columns },
  },
  'Excel with the line sep=': {
    bytes: latin1(
      'sep=;\r\nID;Name;Tag\r\n1;Frauenschuh gr\xfcn;innen\r\n2;"5"" Topf; klein";\r\n3;Caf\xe9;innen\r\n',
    ),
    dialect: { delimiter: ';', encoding: 'windows-1252', columns },
  },
  'Excel with rows of empty cells at the end': {
    bytes: latin1(
      'ID;Name;Tag\r\n1;Frauenschuh gr\xfcn;innen\r\n2;"5"" Topf; klein";\r\n3;Caf\xe9;innen\r\n;;\r\n;;\r\n',
    ),
    dialect: { delimiter: ';', columns },
  },
  'LibreOffice, every text quoted': {
    bytes: Buffer.from(
      '"ID","Name","Tag"\n1,"Frauenschuh grün","innen"\n2,"5"" Topf; klein",\n3,"Café","innen"\n',
    ),
    dialect: { delimiter: ',', encoding: 'utf-8', hasByteOrderMark: false, columns },
  },
  'LibreOffice, UTF-16 without a mark': {
    bytes: utf16('ID;Name;Tag\n1;Frauenschuh grün;innen\n2;"5"" Topf; klein";\n3;Café;innen\n'),
    dialect: { delimiter: ';', encoding: 'utf-16le', hasByteOrderMark: false, columns },
  },
  'a Unix tool, UTF-16BE without a mark': {
    bytes: utf16(
      'ID\tName\tTag\n1\tFrauenschuh grün\tinnen\n2\t"5"" Topf; klein"\t\n3\tCafé\tinnen',
    ).swap16(),
    dialect: { delimiter: '\t', encoding: 'utf-16be', hasByteOrderMark: false, columns },
  },
  'Google Sheets, no line feed at the end': {
    bytes: Buffer.from(
      'ID,Name,Tag\r\n1,Frauenschuh grün,innen\r\n2,"5"" Topf; klein",\r\n3,Café,innen',
    ),
    dialect: { delimiter: ',', encoding: 'utf-8', columns },
  },
  'Google Sheets, tab-separated': {
    bytes: Buffer.from(
      'ID\tName\tTag\r\n1\tFrauenschuh grün\tinnen\r\n2\t"5"" Topf; klein"\t\r\n3\tCafé\tinnen',
    ),
    dialect: { delimiter: '\t', columns },
  },
  'Numbers, a title-cased header with blanks': {
    bytes: Buffer.from(
      ' Id ;NAME; tag\n1;Frauenschuh grün;innen\n2;"5"" Topf; klein";\n3;Café;innen\n',
    ),
    dialect: { delimiter: ';' },
  },
  'a shop with names and columns of its own': {
    bytes: latin1(
      'Preis;Plant No;Plant name;Kategorie\r\n2,50;1;Frauenschuh gr\xfcn;innen\r\n1,00;2;"5"" Topf; klein";\r\n9,90;3;Caf\xe9;innen\r\n',
    ),
    options: { columns: { 'plant no': 'id', 'Plant name': 'name', '4': 'tag' } },
    dialect: {
      delimiter: ';',
      columns: [
        { name: 'Preis', field: undefined },
        { name: 'Plant No', field: 'id' },
        { name: 'Plant name', field: 'name' },
        { name: 'Kategorie', field: 'tag' },
      ],
    },
  },
  'a database, without a header': {
    bytes: Buffer.from('1,Frauenschuh grün,innen\n2,"5"" Topf; klein",\n3,Café,innen\n'),
    options: { hasHeader: false },
    dialect: { delimiter: ',', hasHeader: false },
  },
}

const plants = [
  { id: 1n, name: 'Frauenschuh grün', tag: 'innen' },
  { id: 2n, name: '5" Topf; klein' },
  { id: 3n, name: 'Café', tag: 'innen' },
]

describe.each(Object.entries(exports))('%s', (_program, { bytes, dialect, options }) => {
  test.each([
    ['', bytes],
    [' as gzip', gzipSync(bytes)],
  ])('is read without a doubt%s, in pieces of any size', async (_packed, content) => {
    for (const pieceBytes of [1, 3, 65_536]) {
      const reader = await open(content, options, { pieceBytes, name: 'plants.csv' })
      expect(reader.dialect).toMatchObject({ ...dialect, format: 'csv', doubts: [] })
      expect(reader.dialect.isGzip).toBe(content !== bytes)
      expect((await recordsOf(reader)).map(({ plant, problem }) => plant ?? problem)).toEqual(
        plants,
      )
    }
  })
})

describe('what may be read in two ways is in doubt, with the flag that decides', () => {
  test.each<[string, string | Buffer, string, Partial<ReadOptions>]>([
    [
      'a first line that looks like a plant',
      '1,Fern\n2,Moss\n',
      '--no-header',
      { hasHeader: false },
    ],
    [
      'as many commas as semicolons',
      'a;b,c\nd;e,f\n',
      '--delimiter',
      { delimiter: ';', columns: { a: 'id', 'b,c': 'name' } },
    ],
    [
      'UTF-8 and Windows-1252 in one file',
      Buffer.concat([Buffer.from('id,name\n1,Grün\n'), latin1('2,Gr\xfcn\n')]),
      '--encoding',
      { encoding: 'windows-1252' },
    ],
    [
      'letters of old DOS',
      latin1('id,name\n1,Gr\x81n\n'),
      '--encoding',
      { encoding: 'windows-1252' },
    ],
    [
      'words of Cyrillic letters',
      latin1('id,name\n1,\xd4\xe8\xea\xf3\xf1\n'),
      '--encoding',
      { encoding: 'windows-1252' },
    ],
    [
      'JSON that is not UTF-8',
      latin1('{"id":1,"name":"Gr\xfcn"}\n'),
      '--encoding',
      { encoding: 'windows-1252' },
    ],
  ])('%s', async (_what, content, flag, options) => {
    const mapped = options.columns && { columns: { 1: 'id', 2: 'name' } as const }
    expect((await open(content, mapped)).dialect.doubts).toEqual([
      { question: expect.any(String), flag },
    ])
    expect((await open(content, options)).dialect.doubts).toEqual([])
  })
})

describe('the format is found', () => {
  test.each([
    ['JSON lines by their content', 'plants.txt', '{"id":1,"name":"Fern"}\n', 'jsonl'],
    ['JSON lines by the ending before gz', 'plants.ndjson.gz', 'nope\n', 'jsonl'],
    ['an empty standard input as no plants', '-', '', 'jsonl'],
    ['CSV by its content', '-', 'id,name\n', 'csv'],
  ])('%s', async (_what, name, content, format) => {
    expect((await open(content, {}, { name })).dialect.format).toBe(format)
  })

  test.each([
    ['a spreadsheet itself', Buffer.from('PK\x03\x04'), /save it as CSV/],
    ['an old spreadsheet itself', Buffer.of(0xd0, 0xcf, 0x11, 0xe0, 0xa1), /save it as CSV/],
    ['zstd', Buffer.of(0x28, 0xb5, 0x2f, 0xfd, 0), /packed by zstd/],
    ['an array of JSON', Buffer.from('[{"id":1}]'), /jq -c/],
    [
      'a column that is not there',
      Buffer.from('id,name\n'),
      /no column "Nummer": its columns are "id", "name"/,
    ],
    ['too many columns without names', Buffer.from('1,2,3,4\n'), /Try: --map 1=id --map 2=name/],
  ])('but %s is refused', async (what, content, message) => {
    const columns = what.startsWith('a column') ? ({ Nummer: 'id' } as const) : undefined
    await expect(open(content, { columns })).rejects.toThrow(message)
  })
})

test('a column that was mapped counts more than one that is called like the field', async () => {
  const content = 'id,name,botanical\n1,Fern,Polypodiopsida\n'
  const reader = await open(content, { columns: { botanical: 'name' } })
  expect((await recordsOf(reader)).map(({ plant }) => plant)).toEqual([
    { id: 1n, name: 'Polypodiopsida' },
  ])
})

test('Windows-1252 is read as its standard has it, on every Node.js', async () => {
  const bytes = Buffer.concat([
    latin1('id,name\n1,'),
    Buffer.of(0x80, 0x93, 0x99, 0xe9),
    latin1('\n'),
  ])
  const reader = await open(bytes, { encoding: 'windows-1252' })
  expect((await recordsOf(reader))[0]?.plant?.name).toBe('€“™é')
})

test('half a character of UTF-16 is a problem of its own line', async () => {
  const bytes = Buffer.concat([
    utf16('\ufeffid,name\n1,a'),
    Buffer.of(0x00, 0xd8),
    utf16('\n2,🌿\n'),
  ])
  for (const pieceBytes of [1, 2, 3, 65_536]) {
    const read = await recordsOf(await open(bytes, {}, { pieceBytes }))
    expect(read.map(({ plant, problem }) => plant ?? problem)).toEqual([
      'is not valid UTF-16',
      { id: 2n, name: '🌿' },
    ])
  }
})

describe('gzip', () => {
  const content = 'id,name\n1,Fern\n2,Moss\n'
  const packed = gzipSync(content)

  test('of several members is one file', async () => {
    const members = Buffer.concat([gzipSync('id,name\n1,Fe'), gzipSync('rn\n2,Moss\n')])
    expect(await recordsOf(await open(members))).toHaveLength(2)
  })

  test.each([
    ['cut', packed.subarray(0, -5), /the end of its gzip is missing/],
    [
      'with garbage behind it',
      Buffer.concat([packed, Buffer.from('garbage')]),
      /bytes behind the end/,
    ],
    ['with zeros behind it', Buffer.concat([packed, Buffer.alloc(9)]), /bytes behind the end/],
    [
      'broken',
      Buffer.concat([packed.subarray(0, 12), Buffer.of(255, 255, 255), packed.subarray(15)]),
      /is broken/,
    ],
  ])('%s is an error', async (_what, bytes, message) => {
    for (const pieceBytes of [1, 65_536]) {
      const read = async () => recordsOf(await open(bytes, {}, { pieceBytes }))
      await expect(read()).rejects.toThrow(message)
    }
  })

  test('of a thousand times its size needs no more memory', { timeout: 60_000 }, async () => {
    const bomb = gzipSync(Buffer.concat([Buffer.from('id,name\n1,'), Buffer.alloc(64 << 20, 'x')]))
    expect(bomb.length).toBeLessThan(100_000)
    const before = process.memoryUsage()
    const reader = await open(bomb, {}, { pieceBytes: 1_024 })
    let most = 0
    for await (const { problem, source } of reader.records()) {
      most = process.memoryUsage().arrayBuffers - before.arrayBuffers
      expect({ problem, bytes: source.length }).toEqual({
        problem: 'is longer than 65536 bytes',
        bytes: 1_000,
      })
    }
    expect(most).toBeLessThan(32 << 20)
  })
})

test('characters of UTF-16BE may be cut anywhere', async () => {
  const bytes = utf16('\ufeffid,name\n1,a🌿b\n2,🌿\n').swap16()
  for (const pieceBytes of [1, 2, 3, 5]) {
    const read = await recordsOf(await open(bytes, {}, { pieceBytes }))
    expect(read.map(({ plant }) => plant?.name)).toEqual(['a🌿b', '🌿'])
  }
})

test('a character that the end of the looked-at bytes cuts puts nothing in doubt', async () => {
  const name = 'x'.repeat(65_536 - 'id,name\n1,'.length - 1)
  const reader = await open(`id,name\n1,${name}ü\n`, { limitBytes: 100_000 })
  expect(reader.dialect).toMatchObject({ encoding: 'utf-8', doubts: [] })
})

test('commas in every name are no doubt where the first field is a number', async () => {
  const content = '1;Fern, large\n2;Moss, small\n'
  const { dialect } = await open(content, { hasHeader: false })
  expect(dialect).toMatchObject({ delimiter: ';', doubts: [] })
})

test('the line sep= decides', async () => {
  const { dialect } = await open('sep=;\na;b,c\nd;e,f\n', { columns: { 1: 'id', 2: 'name' } })
  expect(dialect).toMatchObject({ delimiter: ';', doubts: [] })
})
