import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { readSamples } from '../telemetry/scraped-server.ts'
import { startOnStore } from './damaged-store.ts'
import { logLinesIn, type ServerProcess } from './server-process.ts'

const NAMES = ['damaged', 'last_check_timestamp_seconds', 'checked_plants_total']

async function scrape({ operationsUrl }: ServerProcess) {
  const samples = readSamples(await (await fetch(`${operationsUrl}/metrics`)).text())
  return NAMES.map((name) => samples.get(`plant_store_sqlite_${name}`))
}

async function untilChecked(server: ServerProcess) {
  for (;;) {
    const [damaged, ...others] = await scrape(server)
    if (damaged !== undefined) return [damaged, ...others]
    await sleep(200)
  }
}

test('a server as the unit starts it reports damage by log and metric, and stays ready', async () => {
  const server = await startOnStore(true)
  expect(await scrape(server)).toEqual([undefined, undefined, 0])
  expect(await untilChecked(server)).toEqual([1, undefined, expect.any(Number)])
  await server.untilLogged('the database is damaged')
  const error = logLinesIn(server.output()).find(({ level }) => level === 'error')
  expect(error).toMatchObject({
    damage: expect.stringMatching(/malformed, at the id \d+ or after it/),
    msg: expect.stringMatching(/^the database is damaged, and creates go on;.* doctor$/),
  })
  expect((await fetch(`${server.operationsUrl}/readyz`)).status).toBe(200)
  await server.client.createPlant({ id: 9_000, name: 'Moss' })
  expect(await server.end()).toMatchObject({ code: 0 })
}, 120_000)

test('a server reports that it read every plant', async () => {
  const server = await startOnStore(false)
  const [damaged, lastCheck, plants] = await untilChecked(server)
  expect([damaged, plants]).toEqual([0, 5_000])
  expect(Math.abs(Date.now() / 1_000 - (lastCheck ?? 0))).toBeLessThan(120)
  await server.untilLogged('every plant was read and is undamaged')
  expect(await server.end()).toMatchObject({ code: 0 })
}, 120_000)
