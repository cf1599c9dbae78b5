import { describe, expect, test } from 'vitest'
import { startRawServer } from '../helpers/raw-server.ts'
import { openImporter, rowsOf } from './importer.ts'

describe('a server', () => {
  test('that stays away ends the import once the outage is too long', async () => {
    const { write, run, server } = await openImporter()
    write('plants.csv', `id,name\n${rowsOf(100)}`)
    await server.stop()
    const { code, stderr } = await run(['plants.csv', '--max-outage', '1'])
    expect([code, stderr]).toEqual([5, expect.stringContaining('it came to row 1, and nothing')])
  })

  test('that asks to wait is no failure', async () => {
    const { write, run, server } = await openImporter(['--rate-limit=200'])
    write('plants.csv', `id,name\n${rowsOf(400)}`)
    const { code, stdout } = await run(['plants.csv'])
    expect([code, stdout]).toEqual([0, expect.stringContaining('400 stored, 0 rejected')])
    expect(server.readPlants().size).toBe(400)
  })

  test('that refuses the token ends the import, which goes on with another token', async () => {
    const importer = await openImporter()
    importer.write('plants.csv', `id,name\nx,Moss\n${rowsOf(100)}`)
    const wrong = `plant_0123456789ab_${'x'.repeat(43)}00000000`
    const env = { ...importer.env, PLANT_STORE_TOKEN: wrong }
    const refused = importer.screen(['plants.csv'], { env, columns: 200 })
    expect(await refused.ended).toBe(4)
    // The row that is no plant is a reject already; none of the others is.
    expect(refused.text()).toContain('it came to row 2, and nothing is lost')
    expect(refused.text()).toContain('Try: plant-store login URL, with a token that is valid; then')
    const rest = await importer.run(['plants.csv', '--from-row', '2'])
    expect([rest.code, rest.stdout]).toEqual([0, expect.stringContaining('100 stored, 0 rejected')])
  })

  test('that is something else ends the import, and no row is a reject', async () => {
    const importer = await openImporter()
    importer.write('plants.csv', `id,name\n${rowsOf(100)}`)
    const page = 'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 4\r\n\r\nHi!\n'
    const foreign = await startRawServer(() => page)
    const env = { ...importer.env, PLANT_STORE_BASE_URL: foreign.url }
    const shown = importer.screen(['plants.csv'], { env, columns: 200 })
    expect(await shown.ended).toBe(5)
    expect(shown.text()).toContain('is not one of the plant store')
    expect(shown.text()).toContain('Try: the same command with --from-row ')
    expect(importer.has('plants.rejects.csv')).toBe(false)
  })
})
