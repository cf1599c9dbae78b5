import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { FACTS as SHOWN_FACTS } from '../../../overview/facts.ts'
import { PLOTS } from '../../../overview/plots.ts'
import { build } from '../../../src/process/build.ts'
import { LAG_MAX, LAG_P99 } from '../../../src/telemetry/metrics/measured.ts'
import { overviewFiles } from '../../../src/telemetry/overview/overview.ts'
import type { OverviewReply } from '../../../src/telemetry/overview/reply.ts'
import { FACTS, PLOTTED } from '../../../src/telemetry/overview/shown.ts'
import { startServerProcess } from '../../process/server-process.ts'
import { openConnection } from '../../wire/raw-socket.ts'
import { startScrapedServer } from '../scraped-server.ts'

const FILES = join(import.meta.dirname, '../../../dist/overview')

const DASHBOARD = join(import.meta.dirname, '../../../../../operations/dashboard.json')

interface Panel {
  readonly title: string
  readonly targets?: readonly { readonly expr: string }[]
}

async function readOverview(
  { operationsUrl }: { readonly operationsUrl: string },
  query = '',
): Promise<OverviewReply> {
  const response = await fetch(`${operationsUrl}/overview.json${query}`)
  expect(response.status).toBe(200)
  return (await response.json()) as OverviewReply
}

describe('the page', () => {
  test('is there with its files, which may run and ask nothing but this server', async () => {
    const { operationsUrl, url } = await startScrapedServer()
    for (const path of overviewFiles.paths) {
      const { status, headers } = await fetch(operationsUrl + path)
      expect({ path, status }).toEqual({ path, status: 200 })
      const policy = headers.get('content-security-policy')
      expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'; /)
      expect(policy).not.toMatch(/unsafe|\*|http/)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('set-cookie')).toBeNull()
      expect((await fetch(operationsUrl + path, { method: 'POST' })).status).toBe(405)
      expect((await fetch(url + path)).status).toBe(401)
    }
  })

  test('answers no Host that is not its own, like the rest of the listener', async () => {
    const { operationsUrl } = await startScrapedServer()
    for (const path of [...overviewFiles.paths, '/overview.json']) {
      const caller = await openConnection(Number(new URL(operationsUrl).port))
      caller.send(`GET ${path} HTTP/1.1\r\nhost: attacker.example\r\n\r\n`)
      expect({ path, status: (await caller.readReply()).status }).toEqual({ path, status: 400 })
      caller.destroy()
    }
  })

  test('takes at most 100 KB gzipped in all, with the licence of uPlot', () => {
    const contents = readdirSync(FILES).map((name) => readFileSync(join(FILES, name)))
    const bytes = contents.map((content) => gzipSync(content).length)
    expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThan(100_000)
    expect(readFileSync(join(FILES, 'overview.js'), 'utf8')).toContain('Copyright (c)')
  })

  test('is named by the greeting', async () => {
    const { greeting, operationsUrl } = await startServerProcess()
    expect(greeting).toContain(`See how it is in a browser: ${operationsUrl}/\n`)
  })
})

describe('the names', () => {
  test('of the plots are those of the dashboard, and so are their metrics', () => {
    const panels: readonly Panel[] = JSON.parse(readFileSync(DASHBOARD, 'utf8')).panels
    for (const { title, lines } of Object.values(PLOTS).flat()) {
      const panel = panels.find((one) => one.title === title)
      const asked = panel?.targets?.map(({ expr }) => expr).join('\n') ?? ''
      for (const { name } of lines) expect(asked, title).toContain(name)
    }
  })

  test('of the facts are those of the dashboard, and so are their metrics', () => {
    const panels: readonly Panel[] = JSON.parse(readFileSync(DASHBOARD, 'utf8')).panels
    const [started, ...others] = SHOWN_FACTS
    expect(started?.title).toBe('Started')
    for (const { title, metric } of others) {
      const panel = panels.find((one) => one.title === title)
      expect(panel?.targets?.map(({ expr }) => expr).join('\n'), title).toContain(metric)
    }
  })

  test('are those of /metrics, and everything that is sampled is plotted', async () => {
    const server = await startScrapedServer()
    const { series } = await readOverview(server)
    const samples = [...(await server.scrape()).keys()].join('\n')
    for (const { name } of series) expect(samples).toContain(name)
    const plotted = Object.values(PLOTS).flatMap((plots) => plots.flatMap(({ lines }) => lines))
    const names = plotted.map(({ name }) => name)
    const sampled = [...Object.keys(PLOTTED), LAG_P99, LAG_MAX]
    expect(sampled.filter((name) => !names.includes(name))).toEqual(['plant_store_ready'])
    expect(names.filter((name) => !sampled.includes(name))).toEqual([])
  })
})

describe('/overview.json', () => {
  test('has what is measured at once, and nothing of another engine', async () => {
    const server = await startScrapedServer()
    await expect.poll(async () => (await readOverview(server)).times.length).toBe(1)
    const overview = await readOverview(server)
    expect(overview).toMatchObject({ ...build, notReady: null, intervalMs: 10_000 })
    expect(overview.store).toContain('SQLite')
    const values = new Map(overview.series.map(({ name, values: [value] }) => [name, value]))
    expect(values.get('plant_store_ready')).toBe(1)
    for (const name of [
      'process_resident_memory_bytes',
      'nodejs_heap_size_used_bytes',
      'plant_store_sqlite_disk_free_bytes',
    ]) {
      expect(values.get(name), name).toBeGreaterThan(0)
    }
    expect([...values.keys()].filter((name) => name.includes('postgres'))).toEqual([])
    const names: readonly string[] = FACTS
    expect(overview.facts.filter(({ name }) => !names.includes(name))).toEqual([])
    expect((await readOverview(server, `?since=${overview.times[0]}`)).times).toEqual([])
    expect((await readOverview(server, '?since=never')).times).toHaveLength(1)
  })

  test('counts connections of the service', async () => {
    const server = await startScrapedServer()
    const callers = await Promise.all([1, 2, 3].map(() => openConnection(server.port)))
    await expect
      .poll(async () => (await server.scrape()).get('plant_store_connections'))
      .toBe(callers.length)
    for (const caller of callers) caller.destroy()
    await expect.poll(async () => (await server.scrape()).get('plant_store_connections')).toBe(0)
  })

  test('has the settings that differ from their defaults, each with its source', async () => {
    const server = await startServerProcess({
      args: ['--body-limit-bytes', '99'],
      environment: { PLANT_STORE_REQUEST_LIMIT: '77', PLANT_STORE_ADDRESS_LIMIT: '1024' },
    })
    const { settings } = await readOverview(server)
    const shown = (name: string) => settings.find((setting) => setting.name === name)
    expect(shown('PLANT_STORE_BODY_LIMIT_BYTES')).toMatchObject({
      text: '99',
      source: '--body-limit-bytes',
    })
    expect(shown('PLANT_STORE_REQUEST_LIMIT')).toMatchObject({
      text: '77',
      source: 'PLANT_STORE_REQUEST_LIMIT',
    })
    expect(shown('PLANT_STORE_ADDRESS_LIMIT')).toBeUndefined()
  })
})
