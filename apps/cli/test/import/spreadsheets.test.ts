import { describe, expect, test } from 'vitest'
import { describeDialect, openPlantFile, type ReadOptions } from '../../src/import/plant-file.ts'
import { meaningOf, open, recordsOf } from './read.ts'

const latin1 = (text: string) => Buffer.from(text, 'latin1')
const utf16 = (text: string) => Buffer.from(text, 'utf16le')

/** The same three plants as programs write them: an umlaut, a quote with a delimiter, no tag. */
function write(delimiter: string, lineBreak: string, header = 'ID Name Tag'): string {
  const rows = ['1 Frauenschuh-grün innen', '2 "5""-Topf;-klein" ', '3 Café innen']
  const lines = [header, ...rows].map((row) => row.replaceAll(' ', delimiter).replaceAll('-', ' '))
  return lines.map((line) => line + lineBreak).join('')
}

const plants = [
  { id: 1n, name: 'Frauenschuh grün', tag: 'innen' },
  { id: 2n, name: '5" Topf; klein' },
  { id: 3n, name: 'Café', tag: 'innen' },
]

const COLUMNS = 'columns ID→id, Name→name, Tag→tag'

describe.each<[program: string, bytes: Buffer, found: string, options?: Partial<ReadOptions>]>([
  [
    'Excel in Germany, "CSV (Trennzeichen-getrennt)"',
    latin1(write(';', '\r\n')),
    `CSV ";", windows-1252, ${COLUMNS}`,
    { encoding: 'windows-1252' },
  ],
  [
    'Excel in the USA, "CSV UTF-8"',
    Buffer.from(`\ufeff${write(',', '\r\n')}`),
    `CSV ",", utf-8, ${COLUMNS}`,
  ],
  [
    'Excel, "Unicode Text"',
    utf16(`\ufeff${write('\t', '\r\n')}`),
    `CSV tab, utf-16le, ${COLUMNS}`,
    { encoding: 'windows-1252' },
  ],
  [
    'Excel with the line sep=, and empty cells at the end',
    Buffer.from(`sep=;\r\n${write(';', '\r\n')};;\r\n;;\r\n`),
    `CSV ";", utf-8, ${COLUMNS}`,
  ],
  [
    'LibreOffice, the header quoted, UTF-16 without a mark',
    utf16(write(',', '\n', '"ID" "Name" "Tag"')),
    `CSV ",", utf-16le, ${COLUMNS}`,
    { encoding: 'utf-16le' },
  ],
  [
    'a Unix tool, UTF-16BE without a mark, no line feed at the end',
    utf16(write('\t', '\n').trimEnd()).swap16(),
    `CSV tab, utf-16be, ${COLUMNS}`,
    { encoding: 'utf-16be' },
  ],
  [
    'a shop with names and columns of its own',
    Buffer.from(write(';', '\n', 'Plant_No Plant_name Art').replaceAll('\n', ';x\n')),
    'CSV ";", utf-8, columns Plant_No→id, Plant_name→name, Art→tag; passed over: x',
    { columns: { 'plant_no ': 'id', Plant_name: 'name', '3': 'tag' } },
  ],
  [
    'a database, by a delimiter of its own',
    Buffer.from(write('|', '\n')),
    'CSV "|", utf-8, columns ID→id, Name→name, Tag→tag',
    { delimiter: '|' },
  ],
])('%s', (_program, bytes, found, options) => {
  test('is read in pieces of any size', async () => {
    for (const pieceBytes of [1, 3, 65_536]) {
      const file = await open(bytes, options, { pieceBytes, name: 'plants.csv' })
      expect(describeDialect(file.dialect)).toBe(found)
      expect((await recordsOf(file)).map(meaningOf)).toEqual(plants)
    }
  })
})

describe('the format is found', () => {
  test.each([
    ['JSON lines by their content', 'plants.txt', '{"id":1,"name":"Fern"}\n', 'jsonl'],
    ['JSON lines by the ending', 'plants.ndjson', 'nope\n', 'jsonl'],
    ['CSV by its content', '-', 'id,name\n', 'csv'],
  ])('%s', async (_what, name, content, format) => {
    const { csv } = (await open(content, {}, { name })).dialect
    expect(csv === undefined ? 'jsonl' : 'csv').toBe(format)
  })

  test.each([
    ['a spreadsheet itself', Buffer.from('PK\x03\x04'), /save it as CSV/],
    ['an old spreadsheet itself', Buffer.of(0xd0, 0xcf, 0x11, 0xe0, 0xa1), /save it as CSV/],
    ['gzip', Buffer.of(0x1f, 0x8b, 8), /zcat FILE/],
    ['UTF-16 without a mark', utf16('id,name\n'), /Try: --encoding utf-16le/],
    ['an array of JSON', Buffer.from('[{"id":1}]'), /jq -c/],
    [
      'a column that is not there',
      Buffer.from('id,name\n'),
      /no column "Nummer": its columns are "id", "name"/,
    ],
    ['a file without names', Buffer.from('1,2,3\n'), /"3"\. Try: --map "COLUMN=id", or a first/],
  ])('but %s is refused', async (what, content, message) => {
    const columns = what.startsWith('a column') ? ({ Nummer: 'id' } as const) : {}
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

test.each([
  ['windows-1252', Buffer.of(0x80, 0x93, 0x99, 0xe9), '€“™é'],
  ['shift_jis', Buffer.of(0x83, 0x56, 0x83, 0x5f), 'シダ'],
])('%s is read as its standard has it, cut anywhere', async (encoding, name, expected) => {
  const bytes = Buffer.concat([latin1('id,name\n1,'), name, latin1('\n')])
  const file = await open(bytes, { encoding }, { pieceBytes: 1 })
  expect((await recordsOf(file)).map(meaningOf)).toEqual([{ id: 1n, name: expected }])
})

test('a row of 64 MiB needs no more memory', { timeout: 60_000 }, async () => {
  const before = process.memoryUsage()
  async function* chunks() {
    yield Buffer.from('id,name\n1,')
    for (let count = 0; count < 1_024; count++) yield Buffer.alloc(65_536, 'x')
  }
  const reader = await openPlantFile(chunks(), 'plants.csv', { columns: {} })
  let most = 0
  for await (const record of reader.records()) {
    most = process.memoryUsage().arrayBuffers - before.arrayBuffers
    expect(meaningOf(record)).toBe('is longer than 1048576 bytes')
    expect(record.source.length).toBe(1_000)
  }
  expect(most).toBeLessThan(32 << 20)
})

test('a character that the end of the looked-at bytes cuts is none the worse', async () => {
  const name = 'x'.repeat(65_536 - 'id,name\n1,'.length - 1)
  const file = await open(`id,name\n1,${name}ü\n`)
  expect((await recordsOf(file)).map(({ plant }) => plant?.name)).toEqual([`${name}ü`])
})
