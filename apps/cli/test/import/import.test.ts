import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { formatDuration } from '../../src/import/progress.ts'
import { ends } from '../helpers/program.ts'
import { startRawServer } from '../helpers/raw-server.ts'
import { openImporter, rowsOf } from './importer.ts'

test('a file is stored, shown as it was found, and leaves nothing behind', async () => {
  const { write, run, server, cwd } = await openImporter()
  write('plants.csv', '\ufeffID;Name;Price\r\n9007199254740993;Fern;9,90\r\n2;"a ""b""\nc";1\r\n')
  expect(await run(['plants.csv'])).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^plants.csv: 2 stored, 0 rejected in 0:\d\d\n$/),
    stderr: 'plants.csv: CSV ";", utf-8, columns ID→id, Name→name; ignored: Price\n',
  })
  const names = [...server.readPlants()].map(([id, { name, tag }]) => [id, name, tag])
  expect(names).toEqual([
    [2n, 'a "b"\nc', null],
    [9007199254740993n, 'Fern', null],
  ])
  expect(readdirSync(cwd)).toEqual(['plants.csv'])
})

test('rows that are rejected are beside the file, and these are imported once they are corrected', async () => {
  const { write, read, run, server } = await openImporter()
  write('plants.csv', `id,Bezeichnung\n${rowsOf(20)}x,Moss\n5,Other\n1e5,Ivy\n`)
  const first = await run(['plants.csv', '--map', 'Bezeichnung=name'])
  expect(first.code).toBe(3)
  expect(first.stdout).toMatch(/^plants.csv: 20 stored, 3 rejected in 0:\d\d\n/)
  expect(first.stdout).toContain('  1  id taken\n')
  expect(first.stderr).toContain('line 22: id: "x" must be an integer')
  expect(first.stderr).toContain('Try: correct them, then plant-store import plants.rejects.csv\n')
  const rejects = read('plants.rejects.csv')
  const lines = rejects.trimEnd().split('\n')
  expect(lines[0]).toBe('_line,_code,_message,id,name')
  expect(
    lines
      .slice(1)
      .map((line) => line.split(',', 2).join())
      .toSorted(),
  ).toEqual(['22,invalid_plant', '23,id_taken', '24,invalid_plant'])

  write('plants.rejects.csv', rejects.replace('x,Moss', '21,Moss').replace('5,Other', '22,Other'))
  const again = 'Try: correct them, then plant-store import plants.rejects.2.csv'
  const second = await run(['plants.rejects.csv'])
  expect(second).toEqual(ends(3, 'plants.rejects.csv: 2 stored, 1 rejected', again))
  expect(read('plants.rejects.2.csv')).toMatch(/^_line,.*\n\d,invalid_plant,.*1e5,Ivy\n$/)
  expect(server.readPlants().size).toBe(22)
})

test('rows are numbered by their places, and rejects keep their numbers', async () => {
  const { write, read, run, server } = await openImporter()
  write('birds.txt', 'Code|Species|Tag\nA|Fern|wet\nB||\nC|Moss|\n')
  const flags = ['birds.txt', '--map', 'Species=name', '--number-rows', '9007199254740993']
  const ids = '; ids 9007199254740993 to 9007199254740995\n'
  expect(await run(flags)).toEqual(ends(3, ids))
  const rest = await run([...flags, '--from-row', '3'])
  expect(rest).toEqual(ends(0, '1 stored (1 there already), 0 rejected'))
  expect(rest.stdout).toContain('; ids 9007199254740995 to 9007199254740995\n')
  const rejects = read('birds.rejects.txt')
  expect(rejects).toMatch(/^_line.*_message\|id\|Code\|name\|tag\n3.*\|9007199254740994\|B\|\|\n$/)
  write('birds.rejects.txt', rejects.replace('|B||', '|B|Ivy|'))
  expect(await run(['birds.rejects.txt'])).toEqual(ends(0, '1 stored'))
  expect(server.readPlants()).toEqual(
    new Map([
      [9007199254740993n, { name: 'Fern', tag: 'wet' }],
      [9007199254740994n, { name: 'Ivy', tag: null }],
      [9007199254740995n, { name: 'Moss', tag: null }],
    ]),
  )
})

test('a hundred rows that fail alike at first end the import with what to look at', async () => {
  const { write, run, read, server } = await openImporter()
  const isIt =
    'Try: is this the id column? An id is a whole number: --map "COLUMN=id" takes another'
  write('few.csv', 'id,name\nPL1,Fern\nPL2,Moss\n')
  expect(await run(['few.csv'])).toEqual(ends(3, '0 stored, 2 rejected', isIt))
  write('many.csv', `id,name\n${'PL1,Fern\n'.repeat(100)}${rowsOf(10)}`)
  const stopped = await run(['many.csv'])
  expect(stopped).toEqual(ends(3, '0 stored, 100 rejected', isIt))
  expect(stopped.stderr.match(/^ {2}line \d+: /gm)).toHaveLength(5)
  expect(stopped.stderr).toContain('the first 100 rows are rejected for one reason: id: must be')
  expect(stopped.stderr).toContain('only these are wrong, the same command with --from-row 101\n')
  expect(server.readPlants().size).toBe(0)
  expect(await run(['many.csv', '--from-row', '101'])).toEqual(ends(0, '10 stored, 0 rejected'))
  write('taken.csv', `id,name\n${rowsOf(10).replaceAll('Fern', 'Moss')}`)
  expect(await run(['taken.csv'])).toEqual(ends(3, '0 stored, 10 rejected', isIt))
  expect(read('many.rejects.csv').split('\n')).toHaveLength(102)
})

test('on a terminal it asks which column is which, and stores nothing unless that is right', async () => {
  const { write, screen, server } = await openImporter()
  write('birds.csv', 'Species,Tags,Height\nFern,wet,30\nMoss,,2\n')
  for (const { last, code } of [
    { last: '\r', code: 2 },
    { last: 'y\r', code: 0 },
  ]) {
    const shown = screen('birds.csv')
    for (const [question, answer] of [
      [/2 {2}"Tags": "wet", ""\n(.*\n)*Which column is the id\? .* number the rows:$/, '\r'],
      [/The id of the first row \[1\]:$/, '40\r'],
      [/Which column is the name\? Its number:$/, '1\r'],
      [/Which column is the tag\? Its number, or none:$/, '2\r'],
      [
        /id 40, name "Fern", tag "wet"\n {2}id 41, name "Moss", tag ""\nIs this right\? \[y\/N\]$/,
        last,
      ],
    ] as const) {
      await shown.waitFor(question)
      shown.type(answer)
    }
    expect(await shown.ended).toBe(code)
    expect(server.readPlants().size).toBe(code === 0 ? 2 : 0)
  }
  expect(server.readPlants().get(41n)).toEqual({ name: 'Moss', tag: null })
})

test('a file that was imported before is there already, and its rejects are not overwritten', async () => {
  const { write, read, run } = await openImporter()
  write('plants.csv', `id,name\n${rowsOf(10)}x,Moss\n`)
  await run(['plants.csv'])
  const rejects = read('plants.rejects.csv')
  const counts = '10 stored (10 there already), 1 rejected'
  expect(await run(['plants.csv'])).toEqual(ends(3, counts, 'are in plants.rejects.2.csv'))
  expect(read('plants.rejects.csv')).toBe(rejects)
  expect(await run(['plants.csv', '--rejects', 'others.csv'])).toEqual(ends(3, counts))
  expect(read('others.csv')).toBe(rejects)
  const taken = 'others.csv is there already; nothing was sent'
  expect(await run(['plants.csv', '--rejects', 'others.csv'])).toEqual(ends(2, '', taken))
})

test('a file is imported from a row on, and a row behind its end is an error', async () => {
  const { write, run, server } = await openImporter()
  write('plants.csv', `id,name\n${rowsOf(10)}`)
  expect(await run(['plants.csv', '--from-row', '8'])).toEqual(ends(0, '3 stored'))
  expect([...server.readPlants().keys()]).toEqual([7n, 8n, 9n])
  expect(await run(['plants.csv', '--from-row', '11'])).toEqual(ends(0, '0 stored'))
  expect(await run(['plants.csv', '--from-row', '12'])).toEqual(ends(2, '', 'only 10 rows'))
})

test('a file in another encoding ends at its row, and is stored with the flag', async () => {
  const { write, run, server } = await openImporter()
  write('plants.csv', Buffer.from(`id,name\n${rowsOf(3)}3,Gr\xfcn\n4,Moss\n`, 'latin1'))
  const said = 'plants.csv: line 5 is not valid UTF-8. Try: --encoding windows-1252'
  expect(await run(['plants.csv'])).toEqual(ends(2, '3 stored', said))
  expect(server.readPlants().size).toBe(3)
  const again = await run(['plants.csv', '--encoding', 'latin1'])
  expect(again).toEqual(ends(0, '5 stored (3 there already)'))
  expect(server.readPlants().get(3n)).toEqual({ name: 'Grün', tag: null })
})

test('rejects that cannot be written end the import with that, and nothing is half', async () => {
  const { write, run, cwd } = await openImporter()
  write('plants.csv', `id,name\nx,Moss\n${rowsOf(3)}`)
  const said = 'the rejects cannot be written to none/rejects.csv: ENOENT'
  expect(await run(['plants.csv', '--rejects', 'none/rejects.csv'])).toEqual(ends(1, '', said))
  expect(readdirSync(cwd)).toEqual(['plants.csv'])
})

test('stdin is imported, and its rejects are in the current folder', async () => {
  const { run, read, cwd, server } = await openImporter()
  const input = `id,name\n${rowsOf(3)}x,Moss\n`
  expect(await run(['-'], { input })).toEqual(ends(3, 'stdin: 3 stored, 1 rejected'))
  expect(readdirSync(cwd)).toEqual(['stdin.rejects.csv'])
  expect(read('stdin.rejects.csv')).toMatch(/^_line,.*\n5,invalid_plant,/)
  expect(server.readPlants().size).toBe(3)
  expect(await run(['-'])).toEqual(ends(2, '', 'it is empty'))
  expect(readdirSync(cwd)).toHaveLength(1)
})

test('a server that stays away ends the import once the outage is too long', async () => {
  const { write, run, server } = await openImporter()
  write('plants.csv', `id,name\n${rowsOf(100)}`)
  await server.stop()
  const ended = await run(['plants.csv', '--max-outage', '1'])
  expect(ended).toEqual(ends(5, '', 'it came to row 1, and nothing is lost'))
})

test('a server that asks to wait is waited for', async () => {
  const { write, run, server } = await openImporter(['--rate-limit=200'])
  write('plants.csv', `id,name\n${rowsOf(400)}`)
  expect(await run(['plants.csv'])).toEqual(ends(0, '400 stored, 0 rejected'))
  expect(server.readPlants().size).toBe(400)
})

test('a server that refuses the token ends the import, which goes on with another token', async () => {
  const { write, run, env } = await openImporter()
  write('plants.csv', `id,name\nx,Moss\n${rowsOf(100)}`)
  const wrong = { ...env, PLANT_STORE_TOKEN: `plant_0123456789ab_${'x'.repeat(43)}00000000` }
  const refused = await run(['plants.csv'], { env: wrong })
  // The row that is no plant is a reject already; none of the others is.
  expect(refused).toEqual(ends(4, '0 stored, 1 rejected', 'it came to row 2, and nothing is lost'))
  expect(refused.stderr).toContain('Try: PLANT_STORE_TOKEN with a token that is valid; then')
  const rest = await run(['plants.csv', '--from-row', '2'])
  expect(rest).toEqual(ends(0, '100 stored, 0 rejected'))
})

test('a server that is something else ends the import, and no row is a reject', async () => {
  const { write, run, has, env } = await openImporter()
  write('plants.csv', `id,name\n${rowsOf(100)}`)
  const page = 'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 4\r\n\r\nHi!\n'
  const foreign = { ...env, PLANT_STORE_BASE_URL: (await startRawServer(page)).url }
  const ended = await run(['plants.csv'], { env: foreign })
  expect(ended).toEqual(ends(5, '0 stored', 'is not one of the plant store'))
  expect(ended.stderr).toContain('Try: the same command with --from-row 1\n')
  expect(has('plants.rejects.csv')).toBe(false)
})

test('durations have minutes, and hours where there are any', () => {
  expect([0, 64.2, 3_723].map(formatDuration)).toEqual(['0:00', '1:05', '1:02:03'])
})
