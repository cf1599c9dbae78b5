import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { startRawServer } from '../helpers/raw-server.ts'
import { openImporter, rowsOf, until } from './importer.ts'

const JOURNAL = 'plants.csv.import-journal'
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

describe('a server', () => {
  test('that is killed and starts again is waited for, and every row is stored once', async () => {
    const { write, screen, server } = await openImporter(['--rate-limit=2000'])
    write('plants.csv', `id,name\n${rowsOf(6_000)}x,Moss\n`)
    const shown = screen(['plants.csv'])
    await shown.waitFor(/[1-9][\d,]* stored/)
    for (let kill = 0; kill < 2; kill++) {
      await server.stop('SIGKILL')
      await shown.waitFor(/no connection, trying again for [45]:\d\d/)
      await sleep(300)
      await server.start()
      await shown.waitFor(/stored.*\/s/)
    }
    expect(await shown.ended).toBe(3)
    expect(shown.text()).toMatch(/plants\.csv: 6,000 stored(?: \(\d+ there already\))?, 1 rejected/)
    const plants = server.readPlants()
    expect(plants.size).toBe(6_000)
    expect([...plants].filter(([id, { name }]) => name !== `Fern ${id}`)).toEqual([])
  }, 60_000)

  test('that asks to wait is no failure', async () => {
    const { write, screen, server } = await openImporter(['--rate-limit=100'])
    write('plants.csv', `id,name\n${rowsOf(400)}`)
    const shown = screen(['plants.csv'])
    expect(await shown.ended).toBe(0)
    // Not on the screen, where it stands for a second that a busy machine may miss.
    expect(shown.written()).toMatch(/the server asks to wait \d s/)
    expect(shown.text()).toContain('plants.csv: 400 stored, 0 rejected')
    expect(server.readPlants().size).toBe(400)
  })

  test('that refuses the token ends the import, which goes on with another token', async () => {
    const importer = await openImporter()
    importer.write('plants.csv', `id,name\nx,Moss\n${rowsOf(100)}`)
    const wrong = `plant_0123456789ab_${'x'.repeat(43)}00000000`
    const env = { ...importer.env, PLANT_STORE_TOKEN: wrong }
    const refused = importer.screen(['plants.csv'], { env })
    expect(await refused.ended).toBe(4)
    expect(refused.text()).toContain('nothing is lost')
    // The row that is no plant is a reject already; none of the others is.
    expect(importer.marks(JOURNAL).at(-1)).toMatchObject({ rows: 1, stored: 0 })
    const rest = await importer.run(['plants.csv'])
    expect([rest.code, rest.stdout]).toEqual([3, expect.stringContaining('100 stored, 1 rejected')])
  })

  test('that is something else ends the import, and no row is a reject', async () => {
    const importer = await openImporter()
    importer.write('plants.csv', `id,name\n${rowsOf(100)}`)
    const page = 'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 4\r\n\r\nHi!\n'
    const foreign = await startRawServer(() => page)
    const env = { ...importer.env, PLANT_STORE_BASE_URL: foreign.url }
    const shown = importer.screen(['plants.csv'], { env })
    expect(await shown.ended).toBe(5)
    expect(shown.text().replaceAll('\n', '')).toContain('is not one of the plant store')
    expect(shown.text().replaceAll('\n', '')).toContain(
      'Try: plant-store import plants.csv, which goes on',
    )
    expect(importer.has('plants.rejects.csv')).toBe(false)
    expect(importer.has(JOURNAL)).toBe(true)
  })

  test('shows as lines of JSON where a program asks for them', async () => {
    const { write, start } = await openImporter(['--rate-limit=100'])
    write('plants.csv', `id,name\n${rowsOf(300)}`)
    const child = start(['plants.csv', '--progress', 'json', '--json'])
    const [ended, seen, out] = [once(child, 'exit'), text(child.stderr), text(child.stdout)]
    expect((await ended)[0]).toBe(0)
    const states = (await seen)
      .split('\n')
      .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []))
    expect(states.map(({ counts }) => counts.stored)).toEqual(
      expect.arrayContaining([expect.any(Number)]),
    )
    expect(states.at(-1).fraction).toBe(1)
    expect(JSON.parse(await out)).toMatchObject({ exitCode: 0, files: [{ stored: 300 }] })
  })

  test('that stays away ends the import once the outage is too long', async () => {
    const { write, run, server, has } = await openImporter()
    write('plants.csv', `id,name\n${rowsOf(100)}`)
    await server.stop()
    const { code, stderr } = await run(['plants.csv', '--max-outage', '1'])
    expect([code, stderr]).toEqual([5, expect.stringContaining('nothing is lost')])
    expect(has(JOURNAL)).toBe(true)
    await server.start()
    expect((await run(['plants.csv'])).code).toBe(0)
    await until(() => !has(JOURNAL))
  })
})
