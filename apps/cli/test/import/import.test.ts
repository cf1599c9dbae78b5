import { mkdirSync, readdirSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { runProgram } from '../helpers/program.ts'
import { openImporter, rowsOf } from './importer.ts'

describe('a file', () => {
  test('is stored, shown as it was found, and leaves nothing behind', async () => {
    const { write, run, server, cwd } = await openImporter()
    write('plants.csv', '\ufeffID;Name;Price\r\n9007199254740993;Fern;9,90\r\n2;"a ""b""\nc";1\r\n')
    const { code, stdout, stderr } = await run(['plants.csv'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^plants.csv: 2 stored, 0 rejected in 0:\d\d\n$/)
    expect(stderr).toContain(
      'plants.csv: CSV ";", UTF-8, columns ID→id, Name→name; passed over: Price\n',
    )
    expect(stderr).toContain('9007199254740993  Fern')
    expect(server.readPlants()).toEqual(
      new Map([
        [9007199254740993n, { name: 'Fern', tag: null }],
        [2n, { name: 'a "b"\nc', tag: null }],
      ]),
    )
    expect(readdirSync(cwd)).toEqual(['plants.csv'])
  })

  test.each([
    ['JSON lines', 'plants.jsonl', '{"id":1,"name":"Fern"}\n{"id":2,"name":"Moss","tag":"wet"}\n'],
    ['gzip', 'plants.csv.gz', gzipSync('id,name,tag\n1,Fern,\n2,Moss,wet\n')],
    [
      'UTF-16',
      'plants.csv',
      Buffer.from('\ufeffid\tname\ttag\n1\tFern\t\n2\tMoss\twet\n', 'utf16le'),
    ],
  ])('may be %s', async (_, name, content) => {
    const { write, run, server } = await openImporter()
    write(name, content)
    expect((await run([name])).code).toBe(0)
    expect([...server.readPlants()]).toEqual([
      [1n, { name: 'Fern', tag: null }],
      [2n, { name: 'Moss', tag: 'wet' }],
    ])
  })

  test('has the rows that are rejected beside it, and these are imported once they are corrected', async () => {
    const { write, read, run, server, has } = await openImporter()
    write('plants.csv', `id,Bezeichnung\n${rowsOf(20)}x,Moss\n5,Other\n1e5,Ivy\n`)
    const first = await run(['plants.csv', '--map', 'Bezeichnung=name'])
    expect(first.code).toBe(3)
    expect(first.stdout).toMatch(/^plants.csv: 20 stored, 3 rejected in 0:\d\d\n/)
    expect(first.stdout).toContain('  1  id taken\n')
    expect(first.stderr).toContain('line 22: id: "x" must be an integer')
    expect(first.stderr).toContain(
      'Try: correct them, then plant-store import plants.rejects.csv\n',
    )
    const rejects = read('plants.rejects.csv')
    expect(rejects.split('\n').map((line) => line.split(',').slice(0, 2).join())).toEqual([
      '_line,_code',
      '22,invalid_plant',
      '23,id_taken',
      '24,invalid_plant',
      '',
    ])

    write('plants.rejects.csv', rejects.replace('x,Moss', '21,Moss').replace('5,Other', '22,Other'))
    const second = await run(['plants.rejects.csv'])
    expect(second.code).toBe(3)
    expect(second.stdout).toMatch(/^plants.rejects.csv: 2 stored, 1 rejected/)
    expect(second.stderr).toContain('plant-store import plants.rejects.2.csv')
    expect(read('plants.rejects.2.csv')).toMatch(/^_line,.*\n4,invalid_plant,.*1e5,Ivy\n$/)
    expect(server.readPlants().size).toBe(22)
    expect(has('plants.csv.import-journal')).toBe(false)
  })

  test('counts rejects by reason behind the first five', async () => {
    const { write, run } = await openImporter()
    write('plants.csv', `id,name\n${'x,Fern\n'.repeat(30)}${'1,\n'.repeat(7)}`)
    const { stdout, stderr } = await run(['plants.csv'])
    expect(stderr.match(/^ {2}line \d+: /gm)).toHaveLength(5)
    expect(stdout).toContain('  30  id: must be an integer')
    expect(stdout).toContain('   7  name: is required')
  })

  test('that was imported before is there already, and its rejects are not overwritten', async () => {
    const { write, read, run } = await openImporter()
    write('plants.csv', `id,name\n${rowsOf(10)}x,Moss\n`)
    await run(['plants.csv'])
    const rejects = read('plants.rejects.csv')
    const again = await run(['plants.csv'])
    expect([again.code, again.stdout]).toEqual([2, ''])
    expect(again.stderr).toContain('plants.rejects.csv holds the rejects of an earlier import\n')
    expect(read('plants.rejects.csv')).toBe(rejects)
    const elsewhere = await run(['plants.csv', '--rejects', 'others.csv'])
    expect(elsewhere.stdout).toContain('10 stored (10 there already), 1 rejected')
    expect(read('others.csv')).toBe(rejects)
  })

  test('is checked by a dry run without a token, and nothing is written or sent', async () => {
    const { write, cwd, server } = await openImporter()
    write('plants.csv', `id,name\n${rowsOf(10)}x,Moss\n`)
    const { code, stdout, stderr } = await runProgram(['import', '--dry-run', 'plants.csv'], {
      cwd,
    })
    expect(code).toBe(3)
    expect(stdout).toContain('plants.csv: 10 plants, 1 rejected')
    expect(stderr).toContain('line 12: id: "x" must be')
    expect(readdirSync(cwd)).toEqual(['plants.csv'])
    expect(server.readPlants().size).toBe(0)
  })

  test('with more rejects than allowed is left, and goes on when more are allowed', async () => {
    const { write, run, server, has } = await openImporter()
    write('plants.csv', `id,name\n${'x,Fern\n'.repeat(10)}${rowsOf(10)}`)
    const few = await run(['plants.csv', '--max-rejects', '4'])
    expect(few.code).toBe(6)
    expect(few.stderr).toContain('more than 4 rejected; nothing is lost')
    expect(has('plants.csv.import-journal')).toBe(true)
    const more = await run(['plants.csv', '--max-rejects', '10'])
    expect(more.code).toBe(3)
    expect(more.stdout).toContain('10 stored, 10 rejected')
    expect(server.readPlants().size).toBe(10)
  })
})

describe('what is in doubt', () => {
  test('is an error that names the flag where nobody can be asked', async () => {
    const { write, run, server, cwd } = await openImporter()
    write('plants.csv', '1,Fern\n2,Moss\n')
    const { code, stderr } = await run(['plants.csv'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/Try: --[a-z-]+.*, or --yes/)
    expect(readdirSync(cwd)).toEqual(['plants.csv'])
    expect(server.readPlants().size).toBe(0)
    expect((await run(['plants.csv', '--yes'])).code).toBe(0)
    expect(server.readPlants().size).toBe(2)
  })

  test('is asked on a terminal; no imports nothing, return imports it', async () => {
    const { write, screen, server, cwd } = await openImporter()
    write('plants.csv', '1,Fern\n2,Moss\n')
    const refused = screen(['plants.csv'])
    await refused.waitFor('Is this right? [Y/n]')
    refused.type('n\r')
    expect(await refused.ended).toBe(2)
    expect(refused.text()).toContain('plants.csv is not imported')
    expect(readdirSync(cwd)).toEqual(['plants.csv'])
    const stopped = screen(['plants.csv'])
    await stopped.waitFor('Is this right? [Y/n]')
    stopped.type('\x03')
    expect(await stopped.ended).toBe(130)
    expect(readdirSync(cwd)).toEqual(['plants.csv'])
    const taken = screen(['plants.csv'])
    await taken.waitFor('Is this right? [Y/n]')
    taken.type('\r')
    expect(await taken.ended).toBe(0)
    expect(server.readPlants().size).toBe(2)
  })
})

describe('stdin', () => {
  test('is imported without a journal', async () => {
    const { run, read, cwd, server } = await openImporter()
    const { code, stdout } = await run(['-'], { input: `id,name\n${rowsOf(3)}x,Moss\n` })
    expect([code, stdout]).toEqual([3, expect.stringContaining('stdin: 3 stored, 1 rejected')])
    expect(readdirSync(cwd)).toEqual(['stdin.rejects.csv'])
    expect(read('stdin.rejects.csv')).toMatch(/^_line,.*\n5,invalid_plant,/)
    expect(server.readPlants().size).toBe(3)
  })
})

describe('several files', () => {
  test('are imported each in turn, and the exit code is the worst', async () => {
    const { write, run, server } = await openImporter()
    write('one.csv', `id,name\n${rowsOf(3)}`)
    write('two.csv', `id,name\n${rowsOf(3, 10)}x,Moss\n`)
    const { code, stdout, stderr } = await run(['one.csv', 'none.csv', 'two.csv'])
    expect(code).toBe(2)
    expect(stdout).toMatch(/^one.csv: 3 stored.*\ntwo.csv: 3 stored, 1 rejected.*\n.*\n$/)
    expect(stderr).toContain('there is no file none.csv')
    expect(stderr).toContain('1 of 3 files are stored completely')
    expect(server.readPlants().size).toBe(6)
  })

  test('are one JSON object for a program', async () => {
    const { write, run } = await openImporter()
    write('one.csv', `id,name\n${rowsOf(3)}`)
    write('two.csv', 'id,name\n0,Fern 0\nx,Moss\n')
    const { code, stdout } = await run(['--json', 'one.csv', 'two.csv', 'none.csv'])
    expect(code).toBe(2)
    expect(JSON.parse(stdout)).toEqual({
      exitCode: 2,
      files: [
        {
          file: 'one.csv',
          exitCode: 0,
          rows: 3,
          stored: 3,
          alreadyThere: 0,
          rejected: 0,
          reasons: {},
          seconds: expect.any(Number),
        },
        expect.objectContaining({
          exitCode: 3,
          stored: 1,
          alreadyThere: 1,
          rejected: 1,
          reasons: { [`id: must be an integer between ${-(2n ** 63n)} and ${2n ** 63n - 1n}`]: 1 },
          rejects: 'two.rejects.csv',
        }),
        { file: 'none.csv', exitCode: 2, message: 'there is no file none.csv' },
      ],
    })
  })

  test('have no flags that name one file', async () => {
    const { write, run } = await openImporter()
    for (const name of ['one.csv', 'two.csv']) write(name, `id,name\n${rowsOf(1)}`)
    for (const flag of ['--rejects', '--journal']) {
      const { code, stderr } = await run(['one.csv', 'two.csv', flag, 'x'])
      expect([code, stderr]).toEqual([2, expect.stringContaining(`${flag} names one file`)])
    }
  })
})

test.each([
  ['a folder', 'is a folder'],
  ['an empty file', 'empty.csv'],
  ['a spreadsheet itself', 'save it as CSV'],
])('%s is an error that says so, and leaves nothing behind', async (what, said) => {
  const { write, run, pathOf, cwd } = await openImporter()
  if (what === 'a folder') mkdirSync(pathOf('folder'))
  else
    write(
      what === 'an empty file' ? 'empty.csv' : 'p.csv',
      what === 'an empty file' ? '' : 'PK\x03\x04xx',
    )
  const [name = ''] = readdirSync(cwd)
  const { code, stderr } = await run([name])
  expect([code, stderr]).toEqual([2, expect.stringContaining(said)])
  expect(readdirSync(cwd)).toEqual([name])
})
