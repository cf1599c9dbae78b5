import { describe, expect, test } from 'vitest'
import { describeDialect } from '../../src/import/plant-file.ts'
import { meaningOf, type OpenOptions, open, readAll, recordsOf } from './read.ts'

const latin1 = (text: string) => Buffer.from(text, 'latin1')
const utf16 = (text: string) => Buffer.from(text, 'utf16le')

/** The same three plants as programs write them: an umlaut, a quote with a delimiter, no tag. */
function write(delimiter: string, lineBreak: string, header = 'ID Name Tag'): string {
  const rows = ['1 Frauenschuh-grün innen', '2 "5""-Topf;-klein" ', '3 Café innen']
  const lines = [header, ...rows].map((row) => row.replaceAll(' ', delimiter).replaceAll('-', ' '))
  return lines.map((line) => line + lineBreak).join('')
}

const plants = ['1 Frauenschuh grün (innen)', '2 5" Topf; klein', '3 Café (innen)']
const COLUMNS = 'columns ID→id, Name→name, Tag→tag'

describe('a file is read in pieces of any size that was written by', () => {
  test.each<[program: string, bytes: string | Buffer, found: string, options?: OpenOptions]>([
    [
      'Excel in Germany, "CSV (Trennzeichen-getrennt)"',
      latin1(write(';', '\r\n')),
      `CSV ";", windows-1252, ${COLUMNS}`,
      { encoding: 'windows-1252' },
    ],
    ['Excel, "CSV UTF-8"', `\ufeff${write(',', '\r\n')}`, `CSV ",", utf-8, ${COLUMNS}`],
    [
      'Excel, "Unicode Text"',
      utf16(`\ufeff${write('\t', '\r\n')}`),
      `CSV tab, utf-16le, ${COLUMNS}`,
      { encoding: 'windows-1252' },
    ],
    [
      'Excel with the line sep=, and empty cells at the end',
      `sep=;\r\n${write(';', '\r\n')};;\r\n"";;\r\n`,
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
      write(';', '\n', 'Plant_No Plant_name Art').replaceAll('\n', ';x\n'),
      'CSV ";", utf-8, columns Plant_No→id, Plant_name→name, Art→tag; passed over: x',
      { map: { 'plant_no ': 'id', Plant_name: 'name', '3': 'tag' } },
    ],
    [
      'a database, by a delimiter of its own',
      write('|', '\n'),
      `CSV "|", utf-8, ${COLUMNS}`,
      { delimiter: '|' },
    ],
  ])('%s', async (_program, bytes, found, options) => {
    for (const pieceBytes of [1, 3, 65_536]) {
      const file = await open(bytes, { ...options, pieceBytes, name: 'plants.csv' })
      expect(describeDialect(file.dialect)).toBe(found)
      expect((await recordsOf(file)).map(meaningOf)).toEqual(plants)
    }
  })
})

test.each([
  ['JSON lines by their content', 'plants.txt', '{"id":1,"name":"Fern"}\n', 'JSON lines, utf-8'],
  ['JSON lines by the ending', 'plants.ndjson', 'nope\n', 'JSON lines, utf-8'],
  ['CSV by its content', '-', 'id,name\n', 'CSV ",", utf-8, columns id, name'],
])('the format is found: %s', async (_what, name, content, found) => {
  expect(describeDialect((await open(content, { name })).dialect)).toBe(found)
})

test('a column that was mapped counts more than one that is called like the field', async () => {
  const content = 'id,name,botanical\n1,Fern,Polypodiopsida\n'
  expect(await readAll(content, { map: { botanical: 'name' } })).toEqual(['2: 1 Polypodiopsida'])
})

test.each<[what: string, content: string | Buffer, message: RegExp, options?: OpenOptions]>([
  ['a spreadsheet itself', 'PK\x03\x04', /save it as CSV/],
  ['an old spreadsheet itself', Buffer.of(0xd0, 0xcf, 0x11, 0xe0, 0xa1), /save it as CSV/],
  ['gzip', Buffer.of(0x1f, 0x8b, 8), /zcat FILE/],
  ['UTF-16 without a mark', utf16('id,name\n'), /Try: --encoding utf-16le/],
  ['an array of JSON', '[{"id":1}]', /jq -c/],
  ['an empty file', '', /^it is empty/],
  ['an empty file of JSON lines', '', /^it is empty/, { format: 'jsonl' }],
  ['a file of empty lines', '\n\n', /^it has empty lines alone/],
  ['a column less', 'No,name\n1,x\n', /no column id: its columns are "No", "name"\. Try: --map /],
  ['a column twice', 'id,name,Name \n', /^2 of its columns are the name: "name", "Name "/],
  ['another separator', 'id|name|tag\n', /^the first line names no column id/],
  ['a quote in the first line', 'id,na"me\n', /^the first line has a quote inside a field/],
  ['a quote that is never closed', '"id,name\n1,Fern\n', /^the first line has a quote that/],
  ['a file without names', '1,2,3\n', /"3"\. Try: --map "COLUMN=id", or a first/],
  ['a lost column', 'id,name\n', /no column "No": .* "id", "name"/, { map: { No: 'id' } }],
])('%s is refused', async (_what, content, message, options) => {
  await expect(open(content, options)).rejects.toThrow(message)
})

describe('bytes that the encoding does not have end the reading at their line', () => {
  const inUtf16 = [utf16('\ufeffid,name\n1,Fern\n2,a'), Buffer.of(0, 0xd8), utf16('\n')]

  test.each([
    ['UTF-8', 'id,name\n1,Fern\n2,Gr\xfcn\n', undefined, /line 3 is not valid UTF-8\. Try: --enc/],
    ['JSON', '{"id":1,"name":"Fern"}\n\n{"name":"\xff"}\n', undefined, /line 3 is not valid UTF-8/],
    ['the first line', 'id,gr\xfcn,name\n', undefined, /line 1 is not valid UTF-8/],
    ['UTF-16', Buffer.concat(inUtf16), undefined, /line 3 is not valid utf-16le, or has U\+FFFD/],
    ['another one', 'id,name\n1,Fern\n2,\x81\xff\n', 'shift_jis', /line 3 is not valid shift_jis/],
  ])('%s', async (_what, content, encoding, message) => {
    const bytes = typeof content === 'string' ? latin1(content) : content
    for (const pieceBytes of [1, 2, 65_536]) {
      const read: string[] = []
      const all = async () => {
        const file = await open(bytes, { encoding, pieceBytes })
        for await (const record of file.records()) read.push(meaningOf(record))
      }
      await expect(all()).rejects.toThrow(message)
      if (!message.source.startsWith('line 1')) expect(read).toEqual(['1 Fern'])
    }
  })
})

test.each([
  ['windows-1252', [0x80, 0x93, 0x99, 0xe9], '€“™é'],
  ['shift_jis', [0x83, 0x56, 0x83, 0x5f], 'シダ'],
])('%s is read as its standard has it, cut anywhere', async (encoding, name, expected) => {
  const bytes = Buffer.concat([latin1('id,name\n1,'), Buffer.from(name), latin1('\n')])
  expect(await readAll(bytes, { encoding, pieceBytes: 1 })).toEqual([`2: 1 ${expected}`])
})

test('a character that the end of the looked-at bytes cuts is none the worse', async () => {
  const name = 'x'.repeat(65_536 - 'id,name\n1,'.length - 1)
  expect(await readAll(`id,name\n1,${name}ü\n`)).toEqual([`2: 1 ${name}ü`])
})
