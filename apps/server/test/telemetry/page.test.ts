import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { compare, parseScrape, percentile } from '../../overview/measure.ts'
import { build } from '../../src/process/build.ts'
import { prepareDatabase, serve } from '../postgres/served-database.ts'
import { usePostgres } from '../postgres/use-postgres.ts'
import { startServerProcess } from '../process/server-process.ts'
import { openConnection } from '../wire/raw-socket.ts'
import { startScrapedServer } from './scraped-server.ts'

const FILES = join(import.meta.dirname, '../../dist/overview')
const PATHS = ['/', '/overview.css', '/overview.js', '/icon.svg']

const postgres = usePostgres()

async function readAbout({ operationsUrl }: { readonly operationsUrl: string }) {
  const response = await fetch(`${operationsUrl}/about.json`)
  expect(response.status).toBe(200)
  return (await response.json()) as Record<string, unknown>
}

describe('the page', () => {
  test('is there with its files, which may run and ask nothing but this server', async () => {
    const { operationsUrl, url } = await startScrapedServer()
    for (const path of PATHS) {
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
    for (const path of [...PATHS, '/about.json']) {
      const caller = await openConnection(Number(new URL(operationsUrl).port))
      caller.send(`GET ${path} HTTP/1.1\r\nhost: attacker.example\r\n\r\n`)
      expect({ path, status: (await caller.readReply()).status }).toEqual({ path, status: 400 })
      caller.destroy()
    }
  })

  test('takes at most 80 KB in all, with the licence of uPlot', () => {
    const bytes = readdirSync(FILES).map((name) => readFileSync(join(FILES, name)).length)
    expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThan(80_000)
    expect(readFileSync(join(FILES, 'overview.js'), 'utf8')).toContain('Copyright (c)')
  })
})

describe('/about.json', () => {
  test('has the versions, the store, and the settings that differ from their defaults', async () => {
    const server = await startServerProcess({
      args: ['--body-limit-bytes', '99'],
      environment: { PLANT_STORE_REQUEST_LIMIT: '77', PLANT_STORE_ADDRESS_LIMIT: '1024' },
    })
    const { settings, ...about } = await readAbout(server)
    expect(about).toEqual({ ...build, store: expect.stringContaining('SQLite') })
    expect(settings).toEqual(
      expect.arrayContaining([
        { name: 'PLANT_STORE_BODY_LIMIT_BYTES', text: '99', source: '--body-limit-bytes' },
        { name: 'PLANT_STORE_REQUEST_LIMIT', text: '77', source: 'PLANT_STORE_REQUEST_LIMIT' },
      ]),
    )
    expect(JSON.stringify(settings)).not.toContain('ADDRESS_LIMIT')
  })

  test('has no password', async () => {
    const database = await prepareDatabase(await postgres.createDatabase())
    const { hostname, password } = new URL(database.databaseUrl)
    expect(password).not.toBe('')
    const text = JSON.stringify(await readAbout(await serve(database)))
    expect(text).toContain(hostname)
    expect(text).not.toContain(password)
  })
})

/** A scrape with so many responses 200 up to each bound. */
function scrape(counts: Readonly<Record<string, number>>, outcomes = {}, waiting = 0) {
  const buckets = Object.entries(counts).map(
    ([le, count]) =>
      `plant_store_request_duration_seconds_bucket{le="${le}",status="200"} ${count}`,
  )
  const creates = Object.entries(outcomes).map(
    ([outcome, count]) => `plant_store_creates_total{outcome="${outcome}"} ${count}`,
  )
  const more = ['# HELP plant_store_ready x', 'process_cpu_seconds_total 3', '']
  return parseScrape(
    [...buckets, ...creates, `plant_store_waiting_plants ${waiting}`, ...more].join('\n'),
  )
}

describe('between two scrapes', () => {
  const before = scrape({ '0.001': 100, '0.01': 200, '+Inf': 200 }, { created: 150, internal: 1 })

  test('percentiles are those of what came between', () => {
    const now = scrape({ '0.001': 150, '0.01': 300, '+Inf': 300 })
    expect(percentile(before, now, 0.5)).toBeCloseTo(1)
    expect(percentile(before, now, 0.75)).toBeCloseTo(5.5)
    expect(percentile(before, now, 0.99)).toBeCloseTo(9.82)
    const slow = scrape({ '0.001': 100, '0.01': 200, '+Inf': 300 })
    expect(percentile(before, slow, 0.5)).toBe(10)
    expect(percentile(before, before, 0.5)).toBeNull()
    expect(percentile(new Map(), new Map(), 0.5)).toBeNull()
  })

  test('rates are by the second and by kind, and the queue is that of now', () => {
    const outcomes = { created: 250, already_there: 10, id_taken: 4, internal: 3, unavailable: 2 }
    const now = scrape({ '+Inf': 200 }, outcomes, 7)
    expect(compare(before, now, 1_000, 2)).toEqual({
      ...{ at: 1_000, stored: 55, refused: 2, failed: 2 },
      ...{ p50: null, p99: null, waiting: 7 },
    })
  })

  test('a server that began anew counts from 0', () => {
    const now = scrape({ '0.001': 10, '0.01': 10, '+Inf': 10 }, { created: 10, internal: 0 })
    expect(compare(before, now, 1_000, 2)).toMatchObject({ stored: 5, failed: 0, p50: 0.5 })
  })
})
