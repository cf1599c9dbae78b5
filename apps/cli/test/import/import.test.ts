import { mkdirSync, readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { openImporter, rowsOf } from './importer.ts'

describe('a file', () => {
  test('is stored, shown as it was found, and leaves nothing behind', async () => {
    const { write, run, server, cwd } = await openImporter()
    write('plants.csv', '\ufeffID;Name;Price\r\n9007199254740993;Fern;9,90\r\n2;"a ""b""\nc";1\r\n')
    const { code, stdout, stderr } = await run(['plants.csv'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^plants.csv: 2 stored, 0 rejected in 0:\d\d\n$/)
    expect(stderr).toContain(
      'plants.csv: CSV ";", utf-8, columns ID→id, Name→name; passed over: Price\n',
    )
    expect(server.readPlants()).toEqual(
      new Map([
        [9007199254740993n, { name: 'Fern', tag: null }],
        [2n, { name: 'a "b"\nc', tag: null }],
      ]),
    )
    expect(readdirSync(cwd)).toEqual(['plants.csv'])
  })

  test('has the rows that are rejected beside it, and these are imported once they are corrected', async () => {
    const { write, read, run, server } = await openImporter()
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
    expect(again.stdout).toContain('10 stored (10 there already), 1 rejected')
    expect(again.stderr).toContain('the rejects are in plants.rejects.2.csv')
    expect(read('plants.rejects.csv')).toBe(rejects)
    const elsewhere = await run(['plants.csv', '--rejects', 'others.csv'])
    expect(elsewhere.code).toBe(3)
    expect(read('others.csv')).toBe(rejects)
    const taken = await run(['plants.csv', '--rejects', 'others.csv'])
    expect([taken.code, taken.stderr]).toEqual([
      2,
      expect.stringContaining('others.csv is there already; nothing was sent'),
    ])
  })

  test('is imported from a row on, and a row behind its end is an error', async () => {
    const { write, run, server } = await openImporter()
    write('plants.csv', `id,name\n${rowsOf(10)}`)
    expect((await run(['plants.csv', '--from-row', '8'])).code).toBe(0)
    expect([...server.readPlants().keys()]).toEqual([7n, 8n, 9n])
    expect((await run(['plants.csv', '--from-row', '11'])).stdout).toContain('0 stored')
    const beyond = await run(['plants.csv', '--from-row', '12'])
    expect([beyond.code, beyond.stderr]).toEqual([2, expect.stringContaining('only 10 rows')])
  })

  test('in another encoding ends at its row, and is stored with the flag', async () => {
    const { write, run, server } = await openImporter()
    write('plants.csv', Buffer.from(`id,name\n${rowsOf(3)}3,Gr\xfcn\n4,Moss\n`, 'latin1'))
    const { code, stderr } = await run(['plants.csv'])
    expect(code).toBe(2)
    expect(stderr).toContain('plants.csv: line 5 is not valid UTF-8. Try: --encoding windows-1252')
    expect(server.readPlants().size).toBe(3)
    const again = await run(['plants.csv', '--encoding', 'latin1'])
    expect([again.code, again.stdout]).toEqual([
      0,
      expect.stringContaining('5 stored (3 there already)'),
    ])
    expect(server.readPlants().get(3n)).toEqual({ name: 'Grün', tag: null })
  })

  test('whose rejects cannot be written ends with that, and nothing is half', async () => {
    const { write, run, cwd } = await openImporter()
    write('plants.csv', `id,name\nx,Moss\n${rowsOf(3)}`)
    const { code, stderr } = await run(['plants.csv', '--rejects', 'none/rejects.csv'])
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('the rejects cannot be written to none/rejects.csv: ENOENT'),
    ])
    expect(readdirSync(cwd)).toEqual(['plants.csv'])
  })
})

describe('stdin', () => {
  test('is imported, and its rejects are in the current folder', async () => {
    const { run, read, cwd, server } = await openImporter()
    const { code, stdout } = await run(['-'], { input: `id,name\n${rowsOf(3)}x,Moss\n` })
    expect([code, stdout]).toEqual([3, expect.stringContaining('stdin: 3 stored, 1 rejected')])
    expect(readdirSync(cwd)).toEqual(['stdin.rejects.csv'])
    expect(read('stdin.rejects.csv')).toMatch(/^_line,.*\n5,invalid_plant,/)
    expect(server.readPlants().size).toBe(3)
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
