import { describe, expect, test } from 'vitest'
import type { ReadOptions } from '../src/dialect.ts'
import { createRejectsWriter } from '../src/rejects.ts'
import { rejectsPathsOf } from '../src/rejects-path.ts'
import { open, recordsOf } from './read.ts'

/** The rejects of a file of which no record is stored. */
async function reject(
  content: string | Uint8Array,
  options: Partial<ReadOptions> = {},
  rejection = { code: 'id_taken', message: 'id is "taken"' },
): Promise<Buffer> {
  const reader = await open(content, options)
  const writer = createRejectsWriter(reader.dialect)
  const records = (await recordsOf(reader)).map((record) => writer.write(record, rejection))
  return Buffer.concat([writer.header(), ...records])
}

async function read(content: string | Uint8Array, options: Partial<ReadOptions> = {}) {
  const reader = await open(content, options)
  return (await recordsOf(reader)).map(({ plant, problem }) => plant ?? problem)
}

const MESSAGE = '"id is ""taken"""'

describe('rejects of CSV', () => {
  test('keep delimiter and record, behind line, code and message', async () => {
    expect(String(await reject('ID;Name;Preis\r\n1; Fern ;"2,50"\r\nx;"a\nb";\r\n'))).toBe(
      `_line;_code;_message;id;name;"Preis"\n2;id_taken;${MESSAGE};1; Fern ;"2,50"\n3;id_taken;${MESSAGE};x;"a\nb";\n`,
    )
  })

  test('are read again with or without the flags of the first time', async () => {
    const content = '1\t7\tFern\n'
    const options = {
      hasHeader: false,
      delimiter: '\t',
      columns: { 2: 'id', 3: 'name' },
    } as const
    const kept = await reject(content, options)
    expect(String(kept)).toBe(
      `_line\t_code\t_message\t"column 1"\tid\tname\n1\tid_taken\t${MESSAGE}\t1\t7\tFern\n`,
    )
    expect(await read(kept)).toEqual([{ id: 7n, name: 'Fern' }])
    expect(await read(kept, options)).toEqual([{ id: 7n, name: 'Fern' }])
  })

  test('name a column apart that is called like a field and is none', async () => {
    const columns = { botanical: 'name' } as const
    const kept = await reject('id,name,botanical\n1,Fern,Polypodiopsida\n', { columns })
    expect(String(kept)).toContain('_message,id,"_name",name\n')
    expect(await read(kept)).toEqual([{ id: 1n, name: 'Polypodiopsida' }])
    expect(await read(kept, { columns })).toEqual([{ id: 1n, name: 'Polypodiopsida' }])
  })

  test('are UTF-8, marked where the file was marked or was not UTF-8', async () => {
    const text = 'id,name\n1,Grün\n'
    for (const [bytes, mark] of [
      [Buffer.from(text), ''],
      [Buffer.from(`\ufeff${text}`), '\ufeff'],
      [Buffer.from(text, 'latin1'), '\ufeff'],
      [Buffer.from(`\ufeff${text}`, 'utf16le'), '\ufeff'],
    ] as const) {
      const kept = await reject(bytes)
      expect(String(kept)).toBe(
        `${mark}_line,_code,_message,id,name\n2,id_taken,${MESSAGE},1,Grün\n`,
      )
      expect(await read(kept, { encoding: 'windows-1252' })).toEqual(
        mark === '' ? [{ id: 1n, name: 'GrÃ¼n' }] : [{ id: 1n, name: 'Grün' }],
      )
    }
  })

  test('of rejects replace line, code and message', async () => {
    const rejection = { code: 'id_taken', message: 'taken, or "not"' }
    const kept = await reject('id,name\n\n1,Fern\nx,"a, b"\n', {}, rejection)
    const again = await reject(kept, {}, { code: 'other', message: 'again' })
    expect(String(again)).toBe(
      '_line,_code,_message,id,name\n2,other,"again",1,Fern\n3,other,"again",x,"a, b"\n',
    )
  })

  const UNCLOSED = 'has a quote that is never closed'

  test('with a broken record have it in one field, and are corrected there or beside it', async () => {
    const kept = await reject('id,name\n1,"Fern\n2,Moss\n3,"Ivy\n4,Rue\n')
    const start = (line: number) => `\n${line},id_taken,${MESSAGE},`
    expect(String(kept)).toBe(
      `_line,_code,_message,id,name${start(2)}"_source:1,""Fern"${start(3)}2,Moss${start(4)}"_source:3,""Ivy"${start(5)}4,Rue\n`,
    )
    const plants = ['Fern', 'Moss', 'Ivy', 'Rue'].map((name, index) => {
      return { id: BigInt(index + 1), name }
    })
    expect(await read(kept)).toEqual([UNCLOSED, plants[1], UNCLOSED, plants[3]])
    const corrected = String(kept).replace('""Fern', 'Fern').replace('"_source:3,""Ivy"', '3,Ivy')
    expect(await read(corrected)).toEqual(plants)
  })

  test('with a broken record are the same when a spreadsheet has filled up its row', async () => {
    const kept = await reject('id;name;tag\n1;"Fern;\n')
    const filled = String(kept).replace(/"\n$/, '";;""\n')
    expect(filled).not.toBe(String(kept))
    expect(await read(filled)).toEqual([UNCLOSED])
    expect(await read(filled.replace('""Fern', '""Fern""'))).toEqual([{ id: 1n, name: 'Fern' }])
    expect(await reject(filled)).toEqual(kept)
  })

  test('with bytes that are not UTF-8 keep them, so that they are rejected again', async () => {
    const kept = await reject(Buffer.from('id,name\n1,a\xff\n', 'latin1'), { encoding: 'utf-8' })
    expect(kept.includes(Buffer.from('1,a\xff\n', 'latin1'))).toBe(true)
  })

  test('that are only a beginning are never taken for a plant', async () => {
    const kept = await reject(`id,name\n1,${'x'.repeat(70_000)}\n`)
    expect(kept.length).toBeLessThan(1_200)
    expect(await read(kept)).toEqual([expect.stringMatching(/^has 4 fields/)])
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
    expect(String(await reject(`${line}\n`, { format: 'jsonl' }))).toBe(`${beginning}${kept}\n`)
  })

  test('of an object without members stay an object', async () => {
    expect(String(await reject('{}\n'))).toBe(`${beginning.slice(0, -1)}}\n`)
  })

  test('are read again, and rejects of them replace line, code and message', async () => {
    const content = '\n{"id":9223372036854775807,"name":"Fern"}\nnope\n{}\n'
    const kept = await reject(content, { format: 'jsonl' })
    expect(await read(kept)).toEqual([
      { id: 9223372036854775807n, name: 'Fern' },
      'is not valid JSON',
      'id: is required; name: is required',
    ])
    const again = await reject(kept, {}, { code: 'other', message: 'again' })
    const start = (line: number) => `{"_line":${line},"_code":"other","_message":"again"`
    expect(String(again)).toBe(
      `${start(1)},"id":9223372036854775807,"name":"Fern"}\n${start(2)},"_source":"nope"}\n${start(3)}}\n`,
    )
    const corrected = String(kept).replace('"nope"', JSON.stringify('{"id":5,"name":"Ivy"}'))
    expect((await read(corrected))[1]).toEqual({ id: 5n, name: 'Ivy' })
  })

  test('with bytes that are not UTF-8 mean those bytes again', async () => {
    const line = Buffer.from('{"id":1,"name":"a\xff\xc3\xbc"}\n', 'latin1')
    const kept = await reject(line, { encoding: 'utf-8' })
    expect(await read(kept)).toEqual(['is not valid UTF-8. Try: --encoding windows-1252'])
    const again = await reject(kept)
    expect(again).toEqual(kept)
  })
})

test.each([
  ['plants.csv', 'plants.rejects.csv', 'plants.rejects.2.csv'],
  ['/a/b.c/plants.jsonl.gz', '/a/b.c/plants.rejects.jsonl', '/a/b.c/plants.rejects.2.jsonl'],
  ['plants', 'plants.rejects.csv', 'plants.rejects.2.csv'],
  ['plants.rejects.csv', 'plants.rejects.2.csv', 'plants.rejects.3.csv'],
  ['plants.rejects.2.csv', 'plants.rejects.csv', 'plants.rejects.3.csv'],
  ['-', 'stdin.rejects.csv', 'stdin.rejects.2.csv'],
])('the rejects of %s go to %s, else to %s', (path, first, second) => {
  const paths = rejectsPathsOf(path, 'csv')
  expect([paths.next().value, paths.next().value]).toEqual([first, second])
})
