import { once } from 'node:events'
import { truncateSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { openImporter, rowsOf } from './importer.ts'

/** Slow enough to be interrupted. */
const SLOW = ['--rate-limit=300']

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

test('Ctrl-C lets what is under way end, and --from-row goes on', async () => {
  const { read, screen, run, server } = await openImporter(
    `id,name\nx,Moss\n${rowsOf(1_500)}`,
    SLOW,
  )
  const interrupted = screen('plants.csv --concurrency 4')
  await interrupted.waitFor(/[1-9]\d* stored/)
  interrupted.type('\x03')
  expect(await interrupted.ended).toBe(130)
  const stored = server.readPlants().size
  expect(stored).toBeGreaterThan(0)
  expect(stored).toBeLessThan(1_500)
  expect(interrupted.text()).toMatch(
    /interrupted; it came to row [\d,]+, and nothing is lost; the rejects are in plants\.rejects\.csv/,
  )
  // Each that was stored is behind it, and the row that is no plant.
  const goOn = `--from-row ${stored + 2}`
  expect(interrupted.text()).toContain(`Try: the same command with ${goOn}`)
  expect(read('plants.rejects.csv')).toMatch(/^_line,.*\n2,invalid_plant,.*\n$/)

  const { code, stdout } = await run(`plants.csv ${goOn}`)
  const left = (1_500 - stored).toLocaleString('en-US')
  expect([code, stdout]).toEqual([0, expect.stringContaining(`${left} stored, 0 rejected`)])
  expect(server.readPlants().size).toBe(1_500)
})

test('in an outage a signal ends an import within seconds, and a second one at once', async () => {
  const { screen, start, server } = await openImporter(`id,name\n${rowsOf(1_000)}`)
  await server.stop('SIGKILL')
  const [twice, single] = [screen(), start()]
  let said = ''
  single.stderr.on('data', (chunk) => {
    said += chunk
  })
  const closed = once(single, 'close')
  await twice.waitFor(/no response for/)
  twice.type('\x03')
  await pause(300)
  const askedAt = Date.now()
  twice.type('\x03')
  expect(await twice.ended).toBe(130)
  expect(Date.now() - askedAt).toBeLessThan(4_000)
  // Without a terminal the progress is a line each ten seconds.
  await expect.poll(() => said).toMatch(/^no response for 0:1\d, 0 stored, 0 rejected$/m)
  single.kill('SIGTERM')
  expect((await closed)[0]).toBe(130)
  expect(Date.now() - askedAt).toBeLessThan(20_000)
  expect(said).toContain('it came to row 1, and nothing is lost')
})

test('a kill leaves no half file of rejects, and the same command stores every row', async () => {
  const { read, start, run, server, others } = await openImporter(
    `id,name\n${rowsOf(900).replaceAll('\n', '\nx,Moss\n')}`,
    SLOW,
  )
  for (const least of [100, 300]) {
    const child = start()
    const ended = once(child, 'exit')
    await expect.poll(() => server.readPlants().size).toBeGreaterThan(least)
    child.kill('SIGKILL')
    await ended
    expect(others()).not.toContain('plants.rejects.csv')
  }
  const { code, stdout } = await run()
  expect(code).toBe(3)
  expect(stdout).toMatch(/^plants\.csv: 900 stored \(\d+ there already\), 900 rejected/)
  expect(read('plants.rejects.csv').split('\n')).toHaveLength(902)
  expect(server.readPlants().size).toBe(900)
})

test('a file that becomes shorter while it is read gives no half row', async () => {
  const whole = `id,name\n${rowsOf(38_010)}`
  const { pathOf, start, server } = await openImporter(whole, ['--rate-limit=4000'])
  const child = start()
  const [seen, ended] = [text(child.stderr), once(child, 'exit')]
  await expect.poll(() => server.readPlants().size).toBeGreaterThan(10)
  truncateSync(pathOf('plants.csv'), whole.indexOf('18000,Fern 18000') + '18000,Fern'.length)
  expect((await ended)[0]).toBe(2)
  expect(await seen).toContain('plants.csv became shorter while it was read; it came to row 18,001')
  expect(server.readPlants().get(18_000n)).toBe(undefined)
})

test('a server that is killed and starts again is waited for, and every row is stored once', async () => {
  const { screen, server } = await openImporter(`id,name\n${rowsOf(6_000)}x,Moss\n`, [
    '--rate-limit=2000',
  ])
  const [shown, beganAt] = [screen(), Date.now()]
  await shown.waitFor(/[1-9][\d,]* stored/)
  await server.stop('SIGKILL')
  await shown.waitFor(/no response for 0:0\d/)
  await pause(300)
  await server.start()
  expect(await shown.ended).toBe(3)
  expect(shown.text()).toMatch(/plants\.csv: 6,000 stored(?: \(\d+ there already\))?, 1 rejected/)
  const plants = server.readPlants()
  expect(plants.size).toBe(6_000)
  expect([...plants].filter(([id, { name }]) => name !== `Fern ${id}`)).toEqual([])

  // The progress is one line, drawn once a second, that never wraps and is gone in the end.
  const drawn = shown.written().match(/(?<=\r\u001b\[K)\d.*/g) ?? []
  expect(drawn.length).toBeLessThanOrEqual((Date.now() - beganAt) / 1_000)
  expect(Math.max(...drawn.map(({ length }) => length))).toBe(29)
  expect(shown.text()).not.toMatch(/ left$| response /m)
})
