import { expect, test } from 'vitest'
import { formatDuration } from '../../src/import/progress.ts'
import { ends } from '../helpers/program.ts'
import { startRawServer } from '../helpers/raw-server.ts'
import { openImporter, rowsOf } from './importer.ts'

test('a file is stored, shown as it was found, and leaves nothing behind', async () => {
  const rows = '9007199254740993;Fern;9,90\r\n2;"a ""b""\nc";1\r\n'
  const { run, server, others } = await openImporter(`\ufeffID;Name;Price\r\n${rows}`)
  expect(await run()).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^plants.csv: 2 stored, 0 rejected in 0:\d\d\n$/),
    stderr: 'plants.csv: CSV ";", utf-8, columns ID→id, Name→name; ignored: Price\n',
  })
  const plants = server.readPlants()
  expect([...plants.keys()]).toEqual([2n, 9007199254740993n])
  expect(plants.get(2n)).toEqual({ name: 'a "b"\nc', tag: null })
  expect(others()).toEqual([])
})

test('rows that are rejected are beside the file, and these are imported once they are corrected', async () => {
  const rows = `${rowsOf(20)}x,Moss\n5,Other\n1e5,Ivy\n`
  const { write, read, run, server } = await openImporter(`id,Bezeichnung\n${rows}`)
  const first = await run('plants.csv --map Bezeichnung=name')
  const hint = 'Try: correct them, then plant-store import plants.rejects.csv\n'
  expect(first).toEqual(ends(3, /^plants.csv: 20 stored, 3 rejected in 0:\d\d\n/, hint))
  expect(first.stdout).toContain('  1  id taken\n')
  expect(first.stderr).toContain('line 22: id: "x" must be an integer')
  const rejects = read('plants.rejects.csv')
  expect(rejects).toMatch(/^_line,_code,_message,id,name\n22,invalid_plant,/)
  expect(rejects).toMatch(/^23,id_taken,.*,5,Other$/m)
  expect(rejects).toMatch(/^24,invalid_plant,.*,1e5,Ivy$/m)

  write('plants.rejects.csv', rejects.replace('x,Moss', '21,Moss').replace('5,Other', '22,Other'))
  const again = 'Try: correct them, then plant-store import plants.rejects.2.csv'
  const second = await run('plants.rejects.csv')
  expect(second).toEqual(ends(3, 'plants.rejects.csv: 2 stored, 1 rejected', again))
  expect(read('plants.rejects.2.csv')).toMatch(/^_line,.*\n\d,invalid_plant,.*1e5,Ivy\n$/)
  expect(server.readPlants().size).toBe(22)
})

test('rows are numbered by their places, and the summary says from where to where', async () => {
  const { run, server } = await openImporter('Species\nFern\nIvy\nMoss\n')
  const line = 'plants.csv --map Species=name --number-rows 9007199254740993'
  expect(await run(line)).toEqual(ends(0, '; ids 9007199254740993 to 9007199254740995\n'))
  const rest = /1 stored \(1 there already\), 0 rejected in .*; ids 9007199254740995 to/
  expect(await run(`${line} --from-row 3`)).toEqual(ends(0, rest))
  expect(server.readPlants().get(9007199254740994n)).toEqual({ name: 'Ivy', tag: null })
})

test('a hundred rows that fail alike at first end the import with what to look at', async () => {
  const rows = `${'PL1,Fern\n'.repeat(100)}${rowsOf(10)}`
  const { write, run, read, server } = await openImporter(`id,name\n${rows}`)
  const isIt = /Try: is this the id column\? An id is a whole number: .* --number-rows 1 gives/
  const stopped = await run()
  expect(stopped).toEqual(ends(3, '0 stored, 100 rejected', isIt))
  expect(stopped.stderr.match(/^ {2}line \d+: /gm)).toHaveLength(5)
  expect(stopped.stderr).toContain('the first 100 rows are rejected for one reason: id: must be')
  expect(stopped.stderr).toContain('only these are wrong, the same command with --from-row 101\n')
  expect(server.readPlants().size).toBe(0)
  expect(read('plants.rejects.csv').split('\n')).toHaveLength(102)
  expect(await run('plants.csv --from-row 101')).toEqual(ends(0, '10 stored, 0 rejected'))
  // Fewer rows are all rejected.
  write('few.csv', 'id,name\nPL1,Fern\nPL2,Moss\n')
  expect(await run('few.csv')).toEqual(ends(3, '0 stored, 2 rejected', isIt))
  write('taken.csv', `id,name\n${rowsOf(10).replaceAll('Fern', 'Moss')}`)
  expect(await run('taken.csv')).toEqual(ends(3, '0 stored, 10 rejected', isIt))
})

test.each([
  ['\r', 2, 0],
  ['y\r', 0, 2],
])(
  'on a terminal it asks which column is which; %j then ends it with %i',
  async (last, code, size) => {
    const { screen, server } = await openImporter('Species,Tags,Height\nFern,wet,30\nMoss,,2\n')
    const shown = screen()
    for (const [question, answer] of [
      [/2 {2}"Tags": "wet", ""\n(.*\n)*Which column is the id\? .* number the rows:$/, '\r'],
      [/The id of the first row \[1\]:$/, '40\r'],
      [/Which column is the name\? Type its number:$/, '9\r'],
      [/"9" is no number from 1 to 3\nWhich column is the name\? Type its number:$/, '1\r'],
      [/Which column is the tag\? Type its number, or Enter for none:$/, '2\r'],
      [/id 40, name "Fern", tag "wet"\n {2}id 41, .*, tag ""\nIs this right\? \[y\/N\]$/, last],
    ] as const) {
      await shown.waitFor(question)
      shown.type(answer)
    }
    expect(await shown.ended).toBe(code)
    expect(shown.text().includes('; ids 40 to 41')).toBe(size > 0)
    const plants = server.readPlants()
    expect(plants.size).toBe(size)
    if (size > 0) expect(plants.get(41n)).toEqual({ name: 'Moss', tag: null })
  },
)

test('a file that was imported before is there already, and its rejects are not overwritten', async () => {
  const { read, run } = await openImporter(`id,name\n${rowsOf(10)}x,Moss\n`)
  await run()
  const counts = '10 stored (10 there already), 1 rejected'
  expect(await run()).toEqual(ends(3, counts, 'are in plants.rejects.2.csv'))
  expect(await run('plants.csv --rejects others.csv')).toEqual(ends(3, counts))
  expect(read('others.csv')).toBe(read('plants.rejects.csv'))
  const taken = 'others.csv is there already; nothing was sent'
  expect(await run('plants.csv --rejects others.csv')).toEqual(ends(2, '', taken))
})

test('a file is imported from a row on, and a row behind its end is an error', async () => {
  const { run, server } = await openImporter(`id,name\n${rowsOf(10)}`)
  expect(await run('plants.csv --from-row 8')).toEqual(ends(0, '3 stored'))
  expect([...server.readPlants().keys()]).toEqual([7n, 8n, 9n])
  expect(await run('plants.csv --from-row 11')).toEqual(ends(0, '0 stored'))
  expect(await run('plants.csv --from-row 12')).toEqual(ends(2, '', 'only 10 rows'))
})

test('a file in another encoding ends at its row, and is stored with the flag', async () => {
  const content = Buffer.from(`id,name\n${rowsOf(3)}3,Gr\xfcn\n4,Moss\n`, 'latin1')
  const { run, server } = await openImporter(content)
  const said = 'plants.csv: line 5 is not valid UTF-8. Try: --encoding windows-1252'
  expect(await run()).toEqual(ends(2, '3 stored', said))
  expect(server.readPlants().size).toBe(3)
  const again = await run('plants.csv --encoding latin1')
  expect(again).toEqual(ends(0, '5 stored (3 there already)'))
  expect(server.readPlants().get(3n)).toEqual({ name: 'Grün', tag: null })
})

test('rejects that cannot be written end the import with that, and nothing is half', async () => {
  const { run, others } = await openImporter(`id,name\nx,Moss\n${rowsOf(3)}`)
  const said = 'the rejects cannot be written to none/rejects.csv: ENOENT'
  expect(await run('plants.csv --rejects none/rejects.csv')).toEqual(ends(1, '', said))
  expect(others()).toEqual([])
})

test('stdin is imported, and its rejects are in the current folder', async () => {
  const { run, read, others, server } = await openImporter()
  const input = `id,name\n${rowsOf(3)}x,Moss\n`
  expect(await run('-', { input })).toEqual(ends(3, 'stdin: 3 stored, 1 rejected'))
  expect(read('stdin.rejects.csv')).toMatch(/^_line,.*\n5,invalid_plant,/)
  expect(server.readPlants().size).toBe(3)
  expect(await run('-')).toEqual(ends(2, '', 'it is empty'))
  expect(others()).toEqual(['stdin.rejects.csv'])
})

test('a server that stays away ends the import once the outage is too long', async () => {
  const { run, server } = await openImporter(`id,name\n${rowsOf(100)}`)
  await server.stop()
  const ended = await run('plants.csv --max-outage 1')
  expect(ended).toEqual(ends(5, '', 'it came to row 1, and nothing is lost'))
})

test('a server that refuses the token ends the import, which goes on with another token', async () => {
  const { run, env } = await openImporter(`id,name\nx,Moss\n${rowsOf(100)}`)
  const wrong = { ...env, PLANT_STORE_TOKEN: `plant_0123456789ab_${'x'.repeat(43)}00000000` }
  const refused = await run('plants.csv', { env: wrong })
  // The row that is no plant is a reject already; none of the others is.
  expect(refused).toEqual(ends(4, '0 stored, 1 rejected', 'it came to row 2, and nothing is lost'))
  expect(refused.stderr).toContain('Try: PLANT_STORE_TOKEN with a token that is valid; then')
  expect(await run('plants.csv --from-row 2')).toEqual(ends(0, '100 stored, 0 rejected'))
})

test('a server that is something else ends the import, and no row is a reject', async () => {
  const { run, others, env } = await openImporter(`id,name\n${rowsOf(100)}`)
  const page = 'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 4\r\n\r\nHi!\n'
  const foreign = { ...env, PLANT_STORE_BASE_URL: (await startRawServer(page)).url }
  const ended = await run('plants.csv', { env: foreign })
  expect(ended).toEqual(ends(5, '0 stored', 'is not one of the plant store'))
  expect(ended.stderr).toContain('Try: the same command with --from-row 1\n')
  expect(others()).toEqual([])
})

test('durations have minutes, and hours where there are any', () => {
  expect([0, 64.2, 3_723].map(formatDuration)).toEqual(['0:00', '1:05', '1:02:03'])
})
