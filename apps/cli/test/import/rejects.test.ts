import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import { RejectsFile, rejectsFormatOf, rejectsPathsOf } from '../../src/import/rejects.ts'
import { type OpenOptions, open, readAll, recordsOf } from './read.ts'

/** The rejects of a file of which no record is stored. */
async function reject(content: string | Uint8Array, options: OpenOptions = {}): Promise<string> {
  const file = await open(content, options)
  const { header, line } = rejectsFormatOf(file.dialect)
  return header + (await recordsOf(file)).map((record) => line(record, rejection)).join('')
}

const rejection = { code: 'id_taken', message: 'id is "taken"' }
const MESSAGE = '"id is ""taken"""'

describe('rejects of CSV', () => {
  test.each<[string, string, OpenOptions, kept: string, read: string[]]>([
    [
      'keep delimiter and values, behind line, code and message',
      'ID;Name;Preis\r\n1; Fern ;"2,50"\r\n2;"a\nb";\r\n',
      {},
      `_line;_code;_message;id;name;Preis\n2;id_taken;${MESSAGE};1; Fern ;2,50\n3;id_taken;${MESSAGE};2;"a\nb";\n`,
      ['2: 1  Fern ', '3: 2 a\nb'],
    ],
    [
      'are read again without the flags of the first time',
      'a\tb\tc\n1\t7\tFern\n',
      { map: { 2: 'id', 3: 'name' } },
      `_line\t_code\t_message\ta\tid\tname\n2\tid_taken\t${MESSAGE}\t1\t7\tFern\n`,
      ['2: 7 Fern'],
    ],
    [
      'name columns apart that are called like a field and are none',
      'id,name,botanical,Tags\n1,Fern,Polypodiopsida,x\n',
      { map: { botanical: 'name' }, ignore: ['Tags'] },
      `_line,_code,_message,id,_name,name,_Tags\n2,id_taken,${MESSAGE},1,Fern,Polypodiopsida,x\n`,
      ['2: 1 Polypodiopsida'],
    ],
    [
      'hold the ids that rows got by their places',
      'id,name\nA,Fern\nB,5" pot\n',
      { numberRows: 7n },
      `_line,_code,_message,id,_id,name\n2,id_taken,${MESSAGE},7,A,Fern\n3,id_taken,${MESSAGE},8,"B,5"" pot"\n`,
      ['2: 7 Fern', '3: has 5 fields where the first line has 6'],
    ],
    [
      'of rejects replace line, code and message',
      '_line,_code,_message,id,name\n2,x,y,1,Fern\n\n9,x,y,2,"a, b"\n',
      {},
      `_line,_code,_message,id,name\n2,id_taken,${MESSAGE},1,Fern\n4,id_taken,${MESSAGE},2,"a, b"\n`,
      ['2: 1 Fern', '3: 2 a, b'],
    ],
  ])('%s', async (_what, content, options, kept, read) => {
    expect(await reject(content, options)).toBe(kept)
    expect(await readAll(kept)).toEqual(read)
  })

  test.each([
    ['', 'utf8', 'id,name\n1,Grün\n', undefined],
    ['\ufeff', 'utf8', '\ufeffid,name\n1,Grün\n', undefined],
    ['\ufeff', 'latin1', 'id,name\n1,Grün\n', 'windows-1252'],
    ['\ufeff', 'utf16le', '\ufeffid,name\n1,Grün\n', undefined],
  ] as const)(
    'are marked (%j) as UTF-8 where the file, in %s, was marked or another',
    async (...row) => {
      const [mark, written, content, encoding] = row
      const kept = await reject(Buffer.from(content, written), { encoding })
      expect(kept).toBe(`${mark}_line,_code,_message,id,name\n2,id_taken,${MESSAGE},1,Grün\n`)
      expect(await readAll(kept)).toEqual(['2: 1 Grün'])
    },
  )
})

describe('rejects of JSON lines', () => {
  const missing = 'id: is required; name: is required'

  test.each<[line: string, kept: string, read: string, OpenOptions?]>([
    [
      '{"id":9223372036854775807,"name":"F","x":1.50}',
      '"id":9223372036854775807,"name":"F","x":1.50',
      '9223372036854775807 F',
    ],
    [' { "id" : 1, "name":"n" } ', ' "id" : 1, "name":"n" ', '1 n'],
    ['{}', '', missing],
    ['nope', '"_source":"nope"', missing],
    ['[1]', '"_source":"[1]"', missing],
    ['null', '"_source":"null","id":5', 'name: is required', { numberRows: 5n }],
    ['{"_line":7,"_code":"x","_message":"a\\"b","id":1,"name":"n"}', '"id":1,"name":"n"', '1 n'],
    [
      '{"ID":1,"x":{"ID":2},"\\u0054ags":"[\\"ID\\":","name":"n","Bot":"b"}',
      '"id":1,"x":{"ID":2},"_Tags":"[\\"ID\\":","_name":"n","name":"b"',
      '1 b',
      { map: { ID: 'id', Bot: 'name' }, ignore: ['Tags'] },
    ],
    ['{"id":"A","name":"n"}', '"id":"A","name":"n","id":5', '5 n', { numberRows: 5n }],
  ])('keep %s', async (line, kept, read, options) => {
    const rejects = await reject(`${line}\n`, { format: 'jsonl', ...options })
    const members = `"_line":1,"_code":"id_taken","_message":"id is \\"taken\\""`
    expect(rejects).toBe(`{${[members, kept].filter(Boolean).join()}}\n`)
    expect(await readAll(rejects)).toEqual([`1: ${read}`])
  })
})

test.each([
  ['plants.csv', 'plants.rejects.csv', 'plants.rejects.2.csv'],
  ['/a/b.c/plants.jsonl', '/a/b.c/plants.rejects.jsonl', '/a/b.c/plants.rejects.2.jsonl'],
  ['plants', 'plants.rejects.csv', 'plants.rejects.2.csv'],
  ['plants.rejects.csv', 'plants.rejects.2.csv', 'plants.rejects.3.csv'],
  ['plants.rejects.2.csv', 'plants.rejects.csv', 'plants.rejects.3.csv'],
  ['-', 'stdin.rejects.csv', 'stdin.rejects.2.csv'],
])('the rejects of %s go to %s, else to %s', (path, first, second) => {
  const paths = rejectsPathsOf(path, 'csv')
  expect([paths.next().value, paths.next().value]).toEqual([first, second])
})

describe('the file of rejects', () => {
  async function openFile(asked?: string) {
    const folder = temporaryFolder()
    const file = await open('id,name\nx,Fern\n')
    const path = asked && join(folder, asked)
    const rejects = new RejectsFile(join(folder, 'plants.csv'), path, file.dialect)
    const add = async () => {
      for (const record of await recordsOf(file)) rejects.add(record, rejection)
    }
    return { folder, rejects, add }
  }

  test('is there once it is whole, for its owner alone, and until then a draft', async () => {
    const { folder, rejects, add } = await openFile()
    expect(rejects.publish()).toBe(undefined)
    await add()
    expect(readdirSync(folder)).toEqual([
      expect.stringMatching(/^plants\.rejects\.csv\.[\w-]{36}$/),
    ])
    const path = rejects.publish() ?? ''
    expect(path).toBe(join(folder, 'plants.rejects.csv'))
    expect(readdirSync(folder)).toEqual(['plants.rejects.csv'])
    expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(3)
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  test('replaces no file and follows no link', async () => {
    const { folder, rejects, add } = await openFile()
    writeFileSync(join(folder, 'plants.rejects.csv'), 'corrected')
    symlinkSync(join(folder, 'elsewhere'), join(folder, 'plants.rejects.2.csv'))
    await add()
    expect(rejects.publish()).toBe(join(folder, 'plants.rejects.3.csv'))
    expect(readFileSync(join(folder, 'plants.rejects.csv'), 'utf8')).toBe('corrected')
    expect(readdirSync(folder)).not.toContain('elsewhere')
  })

  test('that a person names and that came in between is left alone', async () => {
    const { folder, rejects, add } = await openFile('mine.csv')
    await add()
    writeFileSync(join(folder, 'mine.csv'), 'somebody else')
    expect(() => rejects.publish()).toThrow('mine.csv: EEXIST')
    expect(readdirSync(folder)).toEqual(['mine.csv'])
  })
})
