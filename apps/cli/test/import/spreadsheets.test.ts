import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { Column } from '../../src/import/columns.ts'
import type { ReadOptions } from '../../src/import/plant-file.ts'
import { meaningOf, open, recordsOf } from './read.ts'

const latin1 = (text: string) => Buffer.from(text, 'latin1')
const utf16 = (text: string) => Buffer.from(text, 'utf16le')

interface Export {
  readonly bytes: Buffer
  /** What is found. */
  readonly delimiter: string
  readonly encoding?: string
  readonly isMarked?: boolean
  readonly columns?: readonly Column[]
  readonly options?: Partial<ReadOptions>
}

/** The same three plants as programs write them: an umlaut, a quote with a delimiter, no tag. */
const exports: Readonly<Record<string, Export>> = {
  'Excel for Windows in Germany, "CSV (Trennzeichen-getrennt)"': {
    bytes: latin1(
      'ID;Name;Tag\r\n1;Frauenschuh gr\xfcn;innen\r\n2;"5"" Topf; klein";\r\n3;Caf\xe9;innen\r\n',
    ),
    delimiter: ';',
    encoding: 'windows-1252',
    options: { encoding: 'windows-1252' },
  },
  'Excel in the USA, "CSV UTF-8"': {
    bytes: Buffer.from(
      '\ufeffID,Name,Tag\r\n1,Frauenschuh grün,innen\r\n2,"5"" Topf; klein",\r\n3,Café,innen\r\n',
    ),
    delimiter: ',',
    encoding: 'utf-8',
    isMarked: true,
  },
  'Excel, "Unicode Text"': {
    bytes: utf16(
      '\ufeffID\tName\tTag\r\n1\tFrauenschuh grün\tinnen\r\n2\t"5"" Topf; klein"\t\r\n3\tCafé\tinnen\r\n',
    ),
    delimiter: '\t',
    encoding: 'utf-16le',
    isMarked: true,
  },
  'Excel with the line sep=': {
    bytes: latin1(
      'sep=;\r\nID;Name;Tag\r\n1;Frauenschuh gr\xfcn;innen\r\n2;"5"" Topf; klein";\r\n3;Caf\xe9;innen\r\n',
    ),
    delimiter: ';',
    encoding: 'windows-1252',
    options: { encoding: 'windows-1252' },
  },
  'Excel with rows of empty cells at the end': {
    bytes: latin1(
      'ID;Name;Tag\r\n1;Frauenschuh gr\xfcn;innen\r\n2;"5"" Topf; klein";\r\n3;Caf\xe9;innen\r\n;;\r\n;;\r\n',
    ),
    delimiter: ';',
    encoding: 'windows-1252',
    options: { encoding: 'windows-1252' },
  },
  'LibreOffice, every text quoted': {
    bytes: Buffer.from(
      '"ID","Name","Tag"\n1,"Frauenschuh grün","innen"\n2,"5"" Topf; klein",\n3,"Café","innen"\n',
    ),
    delimiter: ',',
    encoding: 'utf-8',
    isMarked: false,
  },
  'LibreOffice, UTF-16 without a mark': {
    options: { encoding: 'utf-16le' },
    bytes: utf16('ID;Name;Tag\n1;Frauenschuh grün;innen\n2;"5"" Topf; klein";\n3;Café;innen\n'),
    delimiter: ';',
    encoding: 'utf-16le',
    isMarked: false,
  },
  'a Unix tool, UTF-16BE without a mark': {
    options: { encoding: 'utf-16be' },
    bytes: utf16(
      'ID\tName\tTag\n1\tFrauenschuh grün\tinnen\n2\t"5"" Topf; klein"\t\n3\tCafé\tinnen',
    ).swap16(),
    delimiter: '\t',
    encoding: 'utf-16be',
    isMarked: false,
  },
  'Google Sheets, no line feed at the end': {
    bytes: Buffer.from(
      'ID,Name,Tag\r\n1,Frauenschuh grün,innen\r\n2,"5"" Topf; klein",\r\n3,Café,innen',
    ),
    delimiter: ',',
    encoding: 'utf-8',
  },
  'Google Sheets, tab-separated': {
    bytes: Buffer.from(
      'ID\tName\tTag\r\n1\tFrauenschuh grün\tinnen\r\n2\t"5"" Topf; klein"\t\r\n3\tCafé\tinnen',
    ),
    delimiter: '\t',
  },
  'Numbers, a title-cased header with blanks': {
    bytes: Buffer.from(
      ' Id ;NAME; tag\n1;Frauenschuh grün;innen\n2;"5"" Topf; klein";\n3;Café;innen\n',
    ),
    delimiter: ';',
  },
  'a shop with names and columns of its own': {
    bytes: latin1(
      'Preis;Plant No;Plant name;Kategorie\r\n2,50;1;Frauenschuh gr\xfcn;innen\r\n1,00;2;"5"" Topf; klein";\r\n9,90;3;Caf\xe9;innen\r\n',
    ),
    encoding: 'windows-1252',
    options: {
      encoding: 'windows-1252',
      columns: { 'plant no': 'id', 'Plant name': 'name', '4': 'tag' },
    },
    delimiter: ';',
    columns: [
      { name: 'Preis', field: undefined },
      { name: 'Plant No', field: 'id' },
      { name: 'Plant name', field: 'name' },
      { name: 'Kategorie', field: 'tag' },
    ],
  },
  'a database, without a header': {
    bytes: Buffer.from('1,Frauenschuh grün,innen\n2,"5"" Topf; klein",\n3,Café,innen\n'),
    options: { hasHeader: false },
    delimiter: ',',
  },
}

const plants = [
  { id: 1n, name: 'Frauenschuh grün', tag: 'innen' },
  { id: 2n, name: '5" Topf; klein' },
  { id: 3n, name: 'Café', tag: 'innen' },
]

describe.each(Object.entries(exports))('%s', (_program, { bytes, options, ...expected }) => {
  test.each([
    ['', bytes],
    [' as gzip', gzipSync(bytes)],
  ])('is read%s, in pieces of any size', async (_packed, content) => {
    const { delimiter, encoding = 'utf-8', isMarked = false, columns } = expected
    for (const pieceBytes of [1, 3, 65_536]) {
      const file = await open(content, options, { pieceBytes, name: 'plants.csv' })
      const { csv, isGzip, encoding: found } = file.dialect
      expect({ isGzip, name: found.name, isMarked: found.markBytes > 0 }).toEqual({
        isGzip: content !== bytes,
        name: encoding,
        isMarked,
      })
      expect(csv).toMatchObject(columns ? { delimiter, columns } : { delimiter })
      expect((await recordsOf(file)).map(meaningOf)).toEqual(plants)
    }
  })
})

describe('the format is found', () => {
  test.each([
    ['JSON lines by their content', 'plants.txt', '{"id":1,"name":"Fern"}\n', 'jsonl'],
    ['JSON lines by the ending before gz', 'plants.ndjson.gz', 'nope\n', 'jsonl'],
    ['CSV by its content', '-', 'id,name\n', 'csv'],
  ])('%s', async (_what, name, content, format) => {
    const { csv } = (await open(content, {}, { name })).dialect
    expect(csv === undefined ? 'jsonl' : 'csv').toBe(format)
  })

  test.each([
    ['a spreadsheet itself', Buffer.from('PK\x03\x04'), /save it as CSV/],
    ['an old spreadsheet itself', Buffer.of(0xd0, 0xcf, 0x11, 0xe0, 0xa1), /save it as CSV/],
    ['UTF-16 without a mark', utf16('id,name\n'), /Try: --encoding utf-16le/],
    ['an array of JSON', Buffer.from('[{"id":1}]'), /jq -c/],
    [
      'a column that is not there',
      Buffer.from('id,name\n'),
      /no column "Nummer": its columns are "id", "name"/,
    ],
    ['too many columns without names', Buffer.from('1,2,3,4\n'), /Try: --map 1=id --map 2=name/],
  ])('but %s is refused', async (what, content, message) => {
    const columns = what.startsWith('a column') ? ({ Nummer: 'id' } as const) : {}
    const hasHeader = !what.startsWith('too many')
    await expect(open(content, { columns, hasHeader })).rejects.toThrow(message)
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

describe('bytes that the encoding does not have end the reading at their line', () => {
  test.each([
    [
      'UTF-8',
      latin1('id,name\n1,Fern\n2,Gr\xfcn\n'),
      undefined,
      /line 3 is not valid UTF-8\. Try: --enc/,
    ],
    [
      'UTF-8 in JSON',
      latin1('{"id":1,"name":"Fern"}\n\n{"id":2,"name":"\xff"}\n'),
      undefined,
      /line 3 is not valid UTF-8/,
    ],
    [
      'UTF-8, in the first line',
      latin1('id,gr\xfcn,name\n'),
      undefined,
      /line 1 is not valid UTF-8/,
    ],
    [
      'UTF-16',
      Buffer.concat([utf16('\ufeffid,name\n1,Fern\n2,a'), Buffer.of(0, 0xd8), utf16('\n')]),
      undefined,
      /line 3 is not valid utf-16le, or has U\+FFFD/,
    ],
    [
      'another one',
      latin1('id,name\n1,Fern\n2,\x81\xff\n'),
      'shift_jis',
      /line 3 is not valid shift_jis/,
    ],
  ])('%s', async (_what, bytes, encoding, message) => {
    for (const pieceBytes of [1, 2, 65_536]) {
      const read: unknown[] = []
      const all = async () => {
        const file = await open(bytes, { encoding }, { pieceBytes })
        for await (const record of file.records()) read.push(record.plant)
      }
      await expect(all()).rejects.toThrow(message)
      if (!message.source.startsWith('line 1')) expect(read).toEqual([{ id: 1n, name: 'Fern' }])
    }
  })
})

test('any encoding of TextDecoder is read', async () => {
  const bytes = Buffer.concat([
    Buffer.from('id,name\n1,'),
    Buffer.of(0x83, 0x56, 0x83, 0x5f),
    Buffer.from('\n'),
  ])
  const file = await open(bytes, { encoding: 'shift_jis' }, { pieceBytes: 1 })
  expect((await recordsOf(file)).map(meaningOf)).toEqual([{ id: 1n, name: 'シダ' }])
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
      /something stands behind it/,
    ],
    [
      'with zeros behind it',
      Buffer.concat([packed, Buffer.alloc(9)]),
      /something stands behind it/,
    ],
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
    for await (const record of reader.records()) {
      most = process.memoryUsage().arrayBuffers - before.arrayBuffers
      expect(meaningOf(record)).toBe('is longer than 1048576 bytes')
      expect(record.source.length).toBe(1_000)
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

test('a character that the end of the looked-at bytes cuts is none the worse', async () => {
  const name = 'x'.repeat(65_536 - 'id,name\n1,'.length - 1)
  const file = await open(`id,name\n1,${name}ü\n`)
  expect((await recordsOf(file)).map(({ plant }) => plant?.name)).toEqual([`${name}ü`])
})

test('commas in every name are no delimiter where the columns are named by another', async () => {
  const { dialect } = await open('id;name, in words\n1;Fern, large\n', {
    columns: { 'name, in words': 'name' },
  })
  expect(dialect.csv?.delimiter).toBe(';')
})

test('the line sep= decides', async () => {
  const { dialect } = await open('sep=|\na|b,c\nd|e,f\n', { columns: { 1: 'id', 2: 'name' } })
  expect(dialect.csv?.delimiter).toBe('|')
})
