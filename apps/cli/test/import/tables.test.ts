import { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { addFileOptions } from '../../src/import/open-file.ts'
import { describeDialect, type ReadOptions } from '../../src/import/plant-file.ts'
import { wordsOf } from '../helpers/program.ts'
import { meaningOf, open, readAll, recordsOf } from './read.ts'

/** The options that flags of a command line mean. */
function optionsOf(flags: string): ReadOptions {
  return addFileOptions(new Command()).parse(wordsOf(flags), { from: 'user' }).opts()
}

const latin1 = (text: string) => Buffer.from(text, 'latin1')
const utf16 = (text: string) => Buffer.from(text, 'utf16le')

const OTHER_NAMES = '--map ID=id --map Name=name --ignore tags'

/** ASCII, and in braces bytes in hexadecimal digits. */
function bytesOf(text: string): Buffer {
  const hex = (_: string, digits: string) => Buffer.from(digits, 'hex').toString('latin1')
  return latin1(text.replace(/\{(\w+)\}/g, hex))
}

describe('a table is read in pieces of any size', () => {
  const latin1Tail = latin1(`id\tname\n${'1\tFern\n'.repeat(10_000)}2\tCaf\xe9\n`)

  test.each<[kind: string, content: string | Buffer, flags: string, plants: string]>([
    ['of Excel in the USA', '\ufeffID,Name,Tag\r\n1,"Fern, wood",in\r\n', '', '1 Fern, wood (in)'],
    ['of Excel in Germany', latin1('ID;Name\r\n1;Gr\xfcn\r\n'), '--encoding latin1', '1 Grün'],
    ['of Excel as Unicode text', utf16('\ufeffID\tName\r\n1\tGrün\r\n'), '', '1 Grün'],
    ['of Excel with sep=', 'sep=;\r\nID;Name\r\n1;Fern\r\n;\r\n"";\r\n', '', '1 Fern'],
    ['of LibreOffice, UTF-16', utf16('"id","name"\n1,Fü\n'), '--encoding utf-16le', '1 Fü'],
    ['of a Unix tool', utf16('id\tname\n1\tFü').swap16(), '--encoding utf-16be', '1 Fü'],
    ['of a shop', 'No;Plant\n1;Fern\n', '--map No=id --map "plant =name"', '1 Fern'],
    ['of R', '"","x","Sp"\n"1",5.1,"setosa"\n', '--map 1=id --map Sp=name', '1 setosa'],
    ['of R with row names', '"","x"\n"Aceca",96.8\n', '--map 1=name --number-rows 1', '1 Aceca'],
    ['with numbers that recur', 'No,name\n1,A\n1,"B ""C"""\n', '--number-rows 1', '1 A, 2 B "C"'],
    ['with text for ids', 'id;name\nPL1;Tölgy\nPL2;Bükk\n', '--number-rows 7', '7 Tölgy, 8 Bükk'],
    ['with bars', 'name|tag\nFern|\nMoss|wet\n', '--number-rows -1', '-1 Fern, 0 Moss (wet)'],
    ['of MySQL', '"No *";"name";"tag"\r\n"7";"Бреза";""\r\n', '--map "No *=id"', '7 Бреза'],
    ['with a Latin-1 tail', latin1Tail, '--encoding l1', `${'1 Fern, '.repeat(10_000)}2 Café`],
    ['in Windows-1251', bytesOf('id;name\n1;{c1e5f0e5e7e0}\n'), '--encoding cp1251', '1 Береза'],
    ['in KOI8-R', bytesOf('id;name\n1;{e2c5d2a3dac1}\n'), '--encoding koi8-r', '1 Берёза'],
    ['in GB18030', bytesOf('name\n{d2f8d0d3}\n'), '--encoding gb18030 --number-rows 1', '1 银杏'],
    ['in Big5', bytesOf('id,name\n1,{bbc8a7f6}\n'), '--encoding big5', '1 銀杏'],
    ['in Shift_JIS', bytesOf('id,name\n1,{8356835f}\n'), '--encoding sjis', '1 シダ'],
    ['in Windows-1252', bytesOf('id,name\n1,{809399e9}\n'), '--encoding ascii', '1 €“™é'],
    ['in ISO-8859-16', bytesOf('id,name\n1,{aafea4}\n'), '--encoding iso-8859-16', '1 Șț€'],
    ['of Hive', 'id\u0001name\n1\u0001"a\u0001b"\n', '--delimiter \u0001', '1 a\u0001b'],
    ['with broken bars', 'id¦name¦tag\n1¦"F¦xyz\n"¦w\n', '--delimiter ¦', '1 F¦xyz\n (w)'],
    ['with spaces', 'id name\n1 "Fern wood"\n', '--delimiter space', '1 Fern wood'],
    ['of JSON with other names', '{"ID":1,"Name":"F","tags":[]}', OTHER_NAMES, '1 F'],
    ['of JSON without ids', '{"id":"x","name":"F"}\n{"name":"M"}', '--number-rows 5', '5 F, 6 M'],
  ])('%s', async (_kind, content, flags, plants) => {
    const options = optionsOf(flags)
    for (const pieceBytes of content.length < 1_000 ? [1, 3, 65_536] : [65_536]) {
      const records = await recordsOf(await open(content, { ...options, pieceBytes }))
      expect(records.map(meaningOf).join(', ')).toBe(plants)
    }
  })
})

test.each([
  ['plants.txt', '{"id":1,"name":"Fern"}\n', '', 'JSON lines, utf-8'],
  ['plants.ndjson', 'nope\n', '--number-rows 7', 'JSON lines, utf-8, rows numbered from 7'],
  ['-', '{"id":1}', OTHER_NAMES, 'JSON lines, utf-8, columns ID→id, Name→name; ignored: tags'],
  ['-', 'id,name\n', '', 'CSV ",", utf-8, columns id, name'],
  ['-', 'Name\t\tx\n', '--map 2=id', 'CSV tab, utf-8, columns Name→name, column 2→id; ignored: x'],
  ['-', 'id;name;Tags\n', '--ignore tags', 'CSV ";", utf-8, columns id, name; ignored: Tags'],
])('how %s is written is found: %j %s', async (nameOfFile, content, flags, found) => {
  expect(describeDialect((await open(content, { ...optionsOf(flags), nameOfFile })).dialect)).toBe(
    found,
  )
})

test.each<[what: string, content: string | Buffer, message: string, flags?: string]>([
  ['a spreadsheet itself', 'PK\x03\x04', 'Try: save it as CSV'],
  ['an old spreadsheet itself', Buffer.of(0xd0, 0xcf, 0x11, 0xe0, 0xa1), 'Try: save it as CSV'],
  ['gzip', Buffer.of(0x1f, 0x8b, 8), 'Try: zcat FILE'],
  ['UTF-16 without a mark', utf16('id,name\n'), 'Try: --encoding utf-16le'],
  ['an array of JSON', '[{"id":1}]', 'Try: jq -c'],
  ['an empty file', '', 'it is empty. Try: a first line id,name,tag'],
  ['an empty file of JSON lines', '', 'it is empty', '--format jsonl'],
  ['a file of empty lines', '\n\n', 'the first line is empty'],
  ['a quote in the first line', 'id,na"me\n', 'the first line has a quote inside a field'],
  ['a quote that is never closed', '"id,name\n1,Fern\n', 'the first line has a quote that'],
  ['JSON lines with a delimiter', '{"id":1}', 'without a delimiter', '--delimiter ,'],
  [
    'a member nearly a field',
    '{"id":1}\n{"id":2,"tags":"x"}',
    'line 2: "tags" may be the tag. Try',
  ],
  ['a member nearly a field', '{"id":1,"tags":[]}', 'Try: --map "tags=tag", or --ignore "tags"'],
  ['a member in capitals', '{"ID":1,"name":"F"}', '"ID" may be the id', '--map x=id'],
  ['an id twice', '{"No":1}', 'both say what the id is', '--map No=id --number-rows 1'],
  ['a lost column', 'id,name\n', 'no column "No"; its columns are 1 "id", 2', '--map No=tag'],
  ['a column twice', 'id,name,Name \n', '2 columns are the name; its columns are 1 "id", 2 "name"'],
  ['a row in place of names', '1,x\n', 'is a row, which would be lost', '--map 1=id --map 2=name'],
  ['an id twice', 'a,name\n', 'both say what the id is', '--map a=id --number-rows 1'],
  ['a column less', 'No,name\n', '2 "name". Try: --map "COLUMN=id", or --number-rows 1'],
  ['a table of others', 'a,b\n', 'no column is named id; no column is named name; its columns'],
  ['a table of others', 'a,b\n', '--map "COLUMN=id", or --number-rows 1; --map "COLUMN=name"'],
  ['another delimiter', 'id~name\n', '; --delimiter, if that is more than one column'],
  ['a column nearly a field', 'id,name,Tags\n', '"Tags" may be the tag; its columns are 1 "id"'],
  ['a column nearly a field', 'id,name,Tags\n', 'Try: --map "Tags=tag", or --ignore "Tags"'],
  ['a field in a longer name', 'id,name,Plant tag\n', '"Plant tag" may be the tag'],
])('%s is refused with what to try', async (_what, content, message, flags = '') => {
  await expect(open(content, optionsOf(flags))).rejects.toThrow(message)
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

test('a character that the end of the looked-at bytes cuts is none the worse', async () => {
  const name = 'x'.repeat(65_536 - 'id,name\n1,'.length - 1)
  expect(await readAll(`id,name\n1,${name}ü\n`)).toEqual([`2: 1 ${name}ü`])
})
