import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startServerProcess } from '../../../../test/server-process.ts'
import { compare, parseScrape, percentile } from '../../overview/measure.ts'
import { build } from '../../src/process/build.ts'
import { openConnection } from '../wire/raw-socket.ts'
import { read, startScrapedServer } from './scraped-server.ts'

const FILES = join(import.meta.dirname, '../../dist/overview')
const PAGE = ['/', '/overview.css', '/overview.js', '/icon.svg']

/** The response to a request with these lines, as a browser would not send it. */
async function ask(url: string, head: string) {
  const caller = await openConnection(Number(new URL(url).port))
  caller.send(`${head}\r\n\r\n`)
  const response = await caller.readReply()
  caller.destroy()
  return response
}

describe('the operations listener', () => {
  const paths = [...PAGE, '/about.json', '/livez', '/readyz', '/metrics']

  test('has health, metrics and the page, to be read only, and the service has none', async () => {
    const server = await startScrapedServer()
    const { operationsUrl, url } = server
    expect(await read(server, 'livez')).toBe('{"status":"live"}')
    expect(await read(server, 'readyz')).toBe('{"status":"ready"}')
    expect((await fetch(`${operationsUrl}/plants`, { method: 'POST' })).status).toBe(404)
    for (const path of paths) {
      const asked = [
        fetch(operationsUrl + path, { method: 'HEAD' }),
        fetch(operationsUrl + path, { method: 'POST' }),
        fetch(url + path),
      ]
      const statuses = (await Promise.all(asked)).map(({ status }) => status)
      expect([path, ...statuses]).toEqual([path, 200, 405, 401])
    }
  })

  test.each([
    [200, ['127.0.0.1', '127.0.0.1:3001', '127.1.2.3', 'localhost', 'LocalHost:9', '[::1]:3001']],
    [
      400,
      [
        ...['attacker.example', 'attacker.example:3001', 'localhost.attacker.example'],
        ...['127.0.0.1.attacker.example', 'localhost.', '10.11.12.13', '[fe80::1]'],
        ...['%6cocalhost', '2130706433'],
      ],
    ],
  ])('answers %d to the hosts %j', async (expected, hosts) => {
    const { operationsUrl, url } = await startScrapedServer()
    for (const host of hosts) {
      for (const path of expected === 200 ? paths : [...paths, '/none']) {
        const { status, body } = await ask(operationsUrl, `GET ${path} HTTP/1.1\r\nhost: ${host}`)
        expect({ host, path, status }).toEqual({ host, path, status: expected })
        const refusal = { error: 40_000, message: 'Host is not this machine: try localhost' }
        if (expected === 400) expect(JSON.parse(body)).toEqual(refusal)
      }
    }
    // The service answers any of them, and no browser speaks HTTP/1.0.
    const head = 'GET /openapi.json HTTP/1.1\r\nhost: attacker.example'
    expect((await ask(url, head)).status).toBe(200)
    expect((await ask(operationsUrl, 'GET /livez HTTP/1.0')).status).toBe(200)
  })

  test('takes any host where others reach it: the server cannot know its names', async () => {
    const { operationsUrl } = await startServerProcess({
      args: ['--operations-listen', '0.0.0.0:0'],
    })
    const head = 'GET /livez HTTP/1.1\r\nhost: plants.internal'
    expect((await ask(operationsUrl, head)).status).toBe(200)
  })
})

describe('the page', () => {
  test('may run and ask nothing but this server', async () => {
    const { operationsUrl } = await startScrapedServer()
    for (const path of PAGE) {
      const { headers } = await fetch(operationsUrl + path)
      const policy = headers.get('content-security-policy')
      expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'; /)
      expect(policy).not.toMatch(/unsafe|\*|http/)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('set-cookie')).toBeNull()
    }
  })

  test('takes at most 80 KB in all, with the licence of uPlot', () => {
    const bytes = readdirSync(FILES).map((name) => readFileSync(join(FILES, name)).length)
    expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThan(80_000)
    expect(readFileSync(join(FILES, 'overview.js'), 'utf8')).toContain('Copyright (c)')
  })
})

test('/about.json has the versions, the store, and the settings that differ from their defaults', async () => {
  const { operationsUrl } = await startServerProcess({
    args: ['--body-limit-bytes', '99'],
    environment: { PLANT_STORE_REQUEST_LIMIT: '77', PLANT_STORE_ADDRESS_LIMIT: '1024' },
  })
  const { settings, ...about } = (await (await fetch(`${operationsUrl}/about.json`)).json()) as {
    settings: unknown
  }
  const limits = { connections: 10_000, waiting: 256, waitMs: 100 }
  const store = expect.stringContaining('SQLite')
  expect(about).toEqual({ ...build, plants: 0, store, limits })
  expect(settings).toEqual(
    expect.arrayContaining([
      { name: 'PLANT_STORE_BODY_LIMIT_BYTES', text: '99', source: '--body-limit-bytes' },
      { name: 'PLANT_STORE_REQUEST_LIMIT', text: '77', source: 'PLANT_STORE_REQUEST_LIMIT' },
    ]),
  )
  expect(JSON.stringify(settings)).not.toContain('ADDRESS_LIMIT')
})

/** A scrape with so many responses 200 up to each bound. */
function scrape(counts: Readonly<Record<string, number>>, outcomes = {}, waiting = 0) {
  const duration = 'plant_store_request_duration_seconds_bucket'
  return parseScrape(
    [
      ...Object.entries(counts).map(([le, n]) => `${duration}{le="${le}",status="200"} ${n}`),
      ...Object.entries(outcomes).map(([o, n]) => `plant_store_creates_total{outcome="${o}"} ${n}`),
      `plant_store_waiting_plants ${waiting}`,
      ...['# HELP plant_store_ready x', 'process_cpu_seconds_total 3', ''],
    ].join('\n'),
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

  test('rates are by the second and by kind, from 0 after a restart, and the queue is that of now', () => {
    const outcomes = { created: 250, already_there: 10, id_taken: 4, internal: 3, unavailable: 2 }
    const now = scrape({ '+Inf': 200 }, outcomes, 7)
    expect(compare(before, now, 1_000, 2)).toEqual({
      ...{ at: 1_000, stored: 55, refused: 2, failed: 2 },
      ...{ p50: null, p99: null, waiting: 7, connections: 0 },
    })
    const anew = scrape({ '0.001': 10, '0.01': 10, '+Inf': 10 }, { created: 10, internal: 0 })
    expect(compare(before, anew, 1_000, 2)).toMatchObject({ stored: 5, failed: 0, p50: 0.5 })
  })
})
