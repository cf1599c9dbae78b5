import { once } from 'node:events'
import { appendFileSync, readdirSync, truncateSync, utimesSync } from 'node:fs'
import { hostname } from 'node:os'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { runProgram } from '../helpers/program.ts'
import { startServer } from '../helpers/server.ts'
import { openImporter, rowsOf, until } from './importer.ts'

/** Slow enough to be interrupted. */
const SLOW = ['--rate-limit=300']
const JOURNAL = 'plants.csv.import-journal'

type Importer = Awaited<ReturnType<typeof openImporter>>

/** Starts an import, and ends it by a signal once its journal has more rows than tests change. */
async function interrupt(
  importer: Importer,
  args: readonly string[] = [],
  signal = 'SIGKILL' as const,
) {
  const child = importer.start(['plants.csv', ...args])
  const ended = once(child, 'exit')
  await until(() => importer.has(JOURNAL) && (importer.marks(JOURNAL).at(-1)?.rows ?? 0) > 10)
  child.kill(signal)
  await ended
  // The server stores what had arrived, and then ends.
  await importer.server.stop()
  await importer.server.start()
  return importer.marks(JOURNAL).at(-1)
}

describe('an import that is interrupted', () => {
  test('by Ctrl-C finishes what is under way, prints the command that goes on, and that goes on', async () => {
    const { write, screen, run, server, marks, has } = await openImporter(SLOW)
    write('plants.csv', `id,name\nx,Moss\n${rowsOf(1_500)}`)
    const interrupted = screen(['plants.csv', '--concurrency', '4'])
    await interrupted.waitFor(/[1-9]\d* stored/)
    interrupted.type('\x03')
    expect(await interrupted.ended).toBe(130)
    expect(interrupted.text()).toContain('interrupted; nothing is lost')
    expect(interrupted.text()).toContain(
      'Try: plant-store import plants.csv --concurrency 4, which goes on',
    )
    const stored = server.readPlants().size
    expect(stored).toBeLessThan(1_500)
    // Each that was stored has its result in the journal.
    expect(marks(JOURNAL).at(-1)).toMatchObject({ rows: stored + 1, stored })

    const rest = await run(['plants.csv', '--concurrency', '4'])
    expect(rest.code).toBe(3)
    expect(rest.stderr).toContain(`plants.csv: goes on behind row ${stored + 1}, begun 20`)
    expect(rest.stdout).toContain('plants.csv: 1,500 stored, 1 rejected')
    expect(server.readPlants().size).toBe(1_500)
    expect(has(JOURNAL)).toBe(false)
  })

  test('by a second Ctrl-C ends at once', async () => {
    const { write, screen, server } = await openImporter()
    write('plants.csv', `id,name\n${rowsOf(1_000)}`)
    await server.stop('SIGKILL')
    const interrupted = screen(['plants.csv'])
    await interrupted.waitFor('no connection, trying again for 4:5')
    interrupted.type('\x03')
    await new Promise((resolve) => setTimeout(resolve, 300))
    const askedAt = Date.now()
    interrupted.type('\x03')
    expect(await interrupted.ended).toBe(130)
    expect(Date.now() - askedAt).toBeLessThan(4_000)
  })

  test('in an outage ends within seconds', async () => {
    const { write, start, server } = await openImporter()
    write('plants.csv', `id,name\n${rowsOf(1_000)}`)
    await server.stop('SIGKILL')
    const child = start(['plants.csv', '--progress', 'json'])
    const ended = once(child, 'close')
    let seen = ''
    child.stderr.setEncoding('utf8').on('data', (chunk) => {
      seen += chunk
    })
    await until(() => seen.includes('no connection, trying again'))
    const askedAt = Date.now()
    child.kill('SIGTERM')
    expect((await ended)[0]).toBe(130)
    expect(Date.now() - askedAt).toBeLessThan(10_000)
    expect(seen).toContain('nothing is lost')
  })

  test('goes on with a file that has more rows behind those that were read', async () => {
    const importer = await openImporter(SLOW)
    importer.write('plants.csv', `id,name\n${rowsOf(600)}`)
    const { rows } = await interrupt(importer)
    appendFileSync(importer.pathOf('plants.csv'), rowsOf(10, 600))
    const rest = await importer.run(['plants.csv'])
    expect(rest.code).toBe(0)
    expect(rest.stderr).toContain(`goes on behind row ${rows}, `)
    expect(importer.server.readPlants().size).toBe(610)
  })

  test.each([
    ['another row', (text: string) => text.replace('3,Fern 3\n', '3,Fern 33\n')],
    ['fewer rows', () => 'id,name\n0,Fern 0\n'],
    ['other columns', (text: string) => text.replace('id,name', 'name,id')],
  ])('sends nothing when the file has %s now', async (_, change) => {
    const importer = await openImporter(SLOW)
    importer.write('plants.csv', `id,name\n${rowsOf(600)}`)
    await interrupt(importer)
    const stored = importer.server.readPlants()
    importer.write('plants.csv', change(importer.read('plants.csv')))
    const { code, stderr } = await importer.run(['plants.csv'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/are not those that were imported|the file is another one now/)
    expect(stderr).toContain(`remove ${JOURNAL} to begin again, which stores nothing twice`)
    expect(importer.server.readPlants()).toEqual(stored)
    expect(importer.has(JOURNAL)).toBe(true)
  })

  test('goes to no other server, with no other flags, and without its rejects nowhere', async () => {
    const importer = await openImporter(SLOW)
    importer.write('plants.csv', `id,name\nx,Moss\n${rowsOf(600)}`)
    await interrupt(importer)
    const other = await startServer()
    const elsewhere = await openImporter([], other)
    const env = { ...elsewhere.env, PATH: process.env.PATH ?? '' }
    const moved = await runProgram(['import', 'plants.csv'], { cwd: importer.cwd, env })
    expect([moved.code, moved.stderr]).toEqual([
      2,
      expect.stringContaining(`begun, but at ${importer.server.url}`),
    ])
    expect(other.readPlants().size).toBe(0)
    const flags = await importer.run(['plants.csv', '--delimiter', 'comma'])
    expect([flags.code, flags.stderr]).toEqual([2, expect.stringContaining('with other flags')])
    truncateSync(importer.pathOf('plants.rejects.csv'), 3)
    const cut = await importer.run(['plants.csv'])
    expect([cut.code, cut.stderr]).toEqual([2, expect.stringContaining('3 bytes are left of')])
  })

  test('cuts off rejects that the journal does not know', async () => {
    const importer = await openImporter(SLOW)
    importer.write('plants.csv', `id,name\nx,Moss\n${rowsOf(600)}y,Moss\n`)
    await interrupt(importer)
    // Longer than all that is written behind it.
    const unknown = '7,invalid_plant,"id: is no integer",y,Moss\n'.repeat(20)
    appendFileSync(
      importer.pathOf('plants.rejects.csv'),
      `${unknown}8,invalid_plant,"id: half a rej`,
    )
    expect((await importer.run(['plants.csv'])).code).toBe(3)
    const lines = importer.read('plants.rejects.csv').split('\n')
    expect(lines.map((line) => line.split(',')[0])).toEqual(['_line', '2', '603', ''])
  })
})

describe('two imports of one file', () => {
  test('are not under way at once, and the second one leaves the first alone', async () => {
    const importer = await openImporter(SLOW)
    importer.write('plants.csv', `id,name\n${rowsOf(900)}`)
    const child = importer.start(['plants.csv'])
    const ended = once(child, 'exit')
    await until(() => importer.has(JOURNAL) && (importer.marks(JOURNAL).at(-1)?.rows ?? 0) > 10)
    const second = await importer.run(['plants.csv'])
    expect(second.code).toBe(2)
    expect(second.stderr).toContain(
      `plants.csv: another import of it is under way (process ${child.pid} on ${hostname()})`,
    )
    expect(importer.has(JOURNAL)).toBe(true)
    expect((await ended)[0]).toBe(0)
    expect(importer.server.readPlants().size).toBe(900)
    expect(readdirSync(importer.cwd)).toEqual(['plants.csv'])
  })

  test('at the same instant are one', async () => {
    const importer = await openImporter(SLOW)
    importer.write('plants.csv', `id,name\n${rowsOf(1_500)}`)
    const all = await Promise.all(Array.from({ length: 4 }, () => importer.run(['plants.csv'])))
    expect(all.map(({ code }) => code).sort()).toEqual([0, 2, 2, 2])
    expect(importer.server.readPlants().size).toBe(1_500)
  })

  test('on two hosts are one, as long as the other shows that it lives', async () => {
    const importer = await openImporter()
    importer.write('plants.csv', `id,name\n${rowsOf(10)}`)
    const run = { host: 'another host', pid: 1 }
    const line = JSON.stringify({ journal: 'plant-store import 1', run })
    importer.write(JOURNAL, `\n${line}\n`)
    const refused = await importer.run(['plants.csv'])
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining('(process 1 on another host)'),
    ])
    const past = Date.now() / 1_000 - 90
    utimesSync(importer.pathOf(JOURNAL), past, past)
    expect((await importer.run(['plants.csv'])).code).toBe(0)
  })

  test('are two when the process of the first ended and another has its number', async () => {
    const importer = await openImporter()
    importer.write('plants.csv', `id,name\n${rowsOf(10)}`)
    const run = { host: hostname(), pid: process.pid, began: 'another boot 1' }
    const line = JSON.stringify({ journal: 'plant-store import 1', run })
    importer.write(JOURNAL, `\n${line}\n{"head":{"beg`)
    expect((await importer.run(['plants.csv'])).code).toBe(0)
  })
})

test('a file that is no journal is left alone', async () => {
  const importer = await openImporter()
  importer.write('plants.csv', `id,name\n${rowsOf(10)}`)
  importer.write(JOURNAL, 'dear diary')
  const { code, stderr } = await importer.run(['plants.csv'])
  expect([code, stderr]).toEqual([2, expect.stringContaining('is not the journal of an import')])
  expect(importer.read(JOURNAL)).toBe('dear diary')
  expect(importer.server.readPlants().size).toBe(0)
})

test('a file that becomes shorter while it is read gives no half row', async () => {
  const importer = await openImporter(['--rate-limit=4000'])
  const whole = `id,name\n${rowsOf(18_010)}`
  importer.write('plants.csv', whole + rowsOf(20_000, 18_010))
  const child = importer.start(['plants.csv'])
  const [seen, ended] = [text(child.stderr), once(child, 'exit')]
  await until(() => importer.has(JOURNAL) && (importer.marks(JOURNAL).at(-1)?.rows ?? 0) > 10)
  truncateSync(
    importer.pathOf('plants.csv'),
    whole.indexOf('18000,Fern 18000') + '18000,Fern'.length,
  )
  expect((await ended)[0]).toBe(2)
  expect(await seen).toContain('plants.csv became shorter while it was read\n')
  expect(importer.server.readPlants().get(18_000n)).toBe(undefined)
  expect(importer.marks(JOURNAL).at(-1)).toMatchObject({ rows: 18_000 })
  importer.write('plants.csv', whole)
  expect((await importer.run(['plants.csv'])).code).toBe(0)
  expect(importer.server.readPlants().get(18_000n)).toEqual({ name: 'Fern 18000', tag: null })
  expect(importer.server.readPlants().size).toBe(18_010)
})
