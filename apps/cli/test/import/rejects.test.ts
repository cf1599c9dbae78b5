import {
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ReadOptions } from '../../src/import/plant-file.ts'
import { RejectsFile, rejectsFormatOf, rejectsPathsOf } from '../../src/import/rejects.ts'
import { makeTemporaryFolder } from '../helpers/temporary-folder.ts'
import { meaningOf, open, recordsOf } from './read.ts'

/** The rejects of a file of which no record is stored. */
async function reject(
  content: string | Uint8Array,
  options: Partial<ReadOptions> = {},
  rejection = { code: 'id_taken', message: 'id is "taken"' },
): Promise<string> {
  const file = await open(content, options)
  const { header, line } = rejectsFormatOf(file.dialect)
  return header + (await recordsOf(file)).map((record) => line(record, rejection)).join('')
}

async function read(content: string) {
  return (await recordsOf(await open(content))).map(meaningOf)
}

const MESSAGE = '"id is ""taken"""'

describe('rejects of CSV', () => {
  test('keep delimiter and values, behind line, code and message', async () => {
    expect(await reject('ID;Name;Preis\r\n1; Fern ;"2,50"\r\nx;"a\nb";\r\n8;"";\r\n')).toBe(
      `_line;_code;_message;id;name;Preis\n2;id_taken;${MESSAGE};1; Fern ;2,50\n` +
        `3;id_taken;${MESSAGE};x;"a\nb";\n5;id_taken;${MESSAGE};8;"";\n`,
    )
  })

  test('are read again without the flags of the first time', async () => {
    const columns = { 2: 'id', 3: 'name' } as const
    const kept = await reject('a\tb\tc\n1\t7\tFern\n', { columns })
    expect(kept).toBe(`_line\t_code\t_message\ta\tid\tname\n2\tid_taken\t${MESSAGE}\t1\t7\tFern\n`)
    expect(await read(kept)).toEqual([{ id: 7n, name: 'Fern' }])
  })

  test('name a column apart that is called like a field and is none', async () => {
    const columns = { botanical: 'name' } as const
    const kept = await reject('id,name,botanical\n1,Fern,Polypodiopsida\n', { columns })
    expect(kept).toContain('_message,id,_name,name\n')
    expect(await read(kept)).toEqual([{ id: 1n, name: 'Polypodiopsida' }])
  })

  test.each([
    ['', Buffer.from('id,name\n1,Grün\n'), undefined],
    ['\ufeff', Buffer.from('\ufeffid,name\n1,Grün\n'), undefined],
    ['\ufeff', Buffer.from('id,name\n1,Grün\n', 'latin1'), 'windows-1252'],
    ['\ufeff', Buffer.from('\ufeffid,name\n1,Grün\n', 'utf16le'), undefined],
  ])(
    'are UTF-8, marked (%j) where the file was marked or was not UTF-8',
    async (mark, bytes, encoding) => {
      const kept = await reject(bytes, { encoding })
      expect(kept).toBe(`${mark}_line,_code,_message,id,name\n2,id_taken,${MESSAGE},1,Grün\n`)
      expect(await read(kept)).toEqual([{ id: 1n, name: 'Grün' }])
    },
  )

  test('of rejects replace line, code and message', async () => {
    const kept = await reject('id,name\n\n1,Fern\nx,"a, b"\n')
    const again = await reject(kept, {}, { code: 'other', message: 'again' })
    expect(again).toBe(
      '_line,_code,_message,id,name\n2,other,again,1,Fern\n3,other,again,x,"a, b"\n',
    )
  })

  test('with a broken or cut record have it in one field, which is never taken for a plant', async () => {
    const kept = await reject(`id,name\n1,"Fern\n2,Moss\n3,${'x'.repeat(1_100_000)}\n`)
    expect(kept).toContain(`\n2,id_taken,${MESSAGE},"1,""Fern"\n3,id_taken,${MESSAGE},2,Moss\n4,`)
    expect(kept.length).toBeLessThan(1_300)
    expect(await read(kept)).toEqual([
      'has 4 fields where the first line has 5',
      { id: 2n, name: 'Moss' },
      'has 4 fields where the first line has 5',
    ])
    expect(await read(kept.replace('"1,""Fern"', '1,Fern'))).toContainEqual({
      id: 1n,
      name: 'Fern',
    })
  })
})

describe('rejects of JSON lines', () => {
  const beginning = '{"_line":1,"_code":"id_taken","_message":"id is \\"taken\\"",'

  test.each([
    [
      '{"id":9223372036854775807,"name":"Fern","size":1.50}',
      '"id":9223372036854775807,"name":"Fern","size":1.50}',
    ],
    [' { "id" : 1, "name":"n" } ', ' "id" : 1, "name":"n" }'],
    ['nope', '"_source":"nope"}'],
    ['[1]', '"_source":"[1]"}'],
    [`{"id":1,"name":"a\\u0000"}`, '"id":1,"name":"a\\u0000"}'],
  ])('keep %s', async (line, kept) => {
    expect(await reject(`${line}\n`, { format: 'jsonl' })).toBe(`${beginning}${kept}\n`)
  })

  test('are read again, and rejects of them replace line, code and message', async () => {
    const content = '\n{"id":9223372036854775807,"name":"Fern"}\nnope\n{}\n'
    const kept = await reject(content, { format: 'jsonl' })
    expect(await read(kept)).toEqual([
      { id: 9223372036854775807n, name: 'Fern' },
      'id: is required; name: is required',
      'id: is required; name: is required',
    ])
    const again = await reject(kept, {}, { code: 'other', message: 'again' })
    const start = (line: number) => `{"_line":${line},"_code":"other","_message":"again"`
    expect(again).toBe(
      `${start(1)},"id":9223372036854775807,"name":"Fern"}\n${start(2)},"_source":"nope"}\n${start(3)}}\n`,
    )
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
    const folder = makeTemporaryFolder()
    const file = await open('id,name\nx,Fern\n')
    const [record] = await recordsOf(file)
    const path = asked && join(folder, asked)
    const rejects = new RejectsFile(join(folder, 'plants.csv'), path, file.dialect)
    const add = (times = 1) => {
      for (let time = 0; time < times; time++) {
        if (record) rejects.add(record, { code: 'invalid_plant', message: 'is no plant' })
      }
    }
    return { folder, rejects, add }
  }

  test('is there once it is whole, for its owner alone, and until then a draft', async () => {
    const { folder, rejects, add } = await openFile()
    add(10_000)
    expect(readdirSync(folder)).toEqual([
      expect.stringMatching(/^plants\.rejects\.csv\.[\w-]{36}$/),
    ])
    const path = rejects.publish() ?? ''
    expect(path).toBe(join(folder, 'plants.rejects.csv'))
    expect(readdirSync(folder)).toEqual(['plants.rejects.csv'])
    expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(10_002)
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  test('is none without rejects', async () => {
    const { folder, rejects } = await openFile()
    expect(rejects.publish()).toBe(undefined)
    expect(readdirSync(folder)).toEqual([])
  })

  test('replaces no file and follows no link', async () => {
    const { folder, rejects, add } = await openFile()
    writeFileSync(join(folder, 'plants.rejects.csv'), 'corrected')
    symlinkSync(join(folder, 'elsewhere'), join(folder, 'plants.rejects.2.csv'))
    add()
    expect(rejects.publish()).toBe(join(folder, 'plants.rejects.3.csv'))
    expect(readFileSync(join(folder, 'plants.rejects.csv'), 'utf8')).toBe('corrected')
    expect(existsSync(join(folder, 'elsewhere'))).toBe(false)
  })

  test('that a person names and that came in between is left alone', async () => {
    const { folder, rejects, add } = await openFile('mine.csv')
    add()
    writeFileSync(join(folder, 'mine.csv'), 'somebody else')
    expect(() => rejects.publish()).toThrow('mine.csv: EEXIST')
    expect(readdirSync(folder)).toEqual(['mine.csv'])
  })
})
