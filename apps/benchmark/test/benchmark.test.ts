import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createRequests } from '../src/load/requests.ts'
import type { Row } from '../src/measurement.ts'
import { readOptions } from '../src/options.ts'
import { renderPage } from '../src/report/page.ts'
import { drawPlot } from '../src/report/plot.ts'
import { renderTable } from '../src/report/table.ts'

const row = (title: string, perSecond: number, cpuUs: number): Row => {
  const figures = { p50Ms: 1, p99Ms: 2.5, databaseCpuUs: Number.NaN, mib: 150 }
  return { title, dividedBy: 'Plant Store (SQLite)', atOnce: 64, perSecond, cpuUs, ...figures }
}

const rounds = [
  [row('Fastify (pg)', 1_000, 90), row('Plant Store (SQLite)', 4_000, 30)],
  [row('Fastify (pg)', 3_000, 80), row('Plant Store (SQLite)', 6_000, 40)],
]

test('the table has medians and ranges, and ratios within each round', () => {
  const [, , fastify, ours] = renderTable(rounds).replaceAll(/ +/g, ' ').split('\n')
  const ranges =
    '| 64 | 2,000 (1,000–3,000) | 0.375 (0.25–0.5) | 1 | 2.5 | 85 | 2.5 (2–3) | – | 150 |'
  expect(fastify).toBe(`| Fastify (pg) ${ranges}`)
  expect(ours).toContain('| 5,000 (4,000–6,000) | – | 1 | 2.5 | 35 | – | – | 150 |')
  expect(drawPlot(rounds)).toContain('<desc id="description">Plant Store (SQLite): 5,000. Fastify')
})

test('the page gets new results between its comments, and keeps what is written by hand', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/performance.md'), 'utf8')
  const renewed = renderPage(page, 'new\n')
  expect(renewed).toContain('next comment. -->\n\nnew\n\n<!-- Written by hand')
  expect(renderPage(renewed, 'new\n')).toBe(renewed)
})

test('options choose what is measured, and refuse what is not known', () => {
  const names = (...args: string[]) => readOptions(args).contestants.map(({ name }) => name)
  expect(names('--only', 'client,raw')).toEqual(['raw', 'client'])
  expect(names('--server', 'main.js')).toContain('other-postgres')
  expect(() => names('--only', 'other')).toThrow('--only other')
  expect(() => names('--seconds', '0')).toThrow('--seconds')
})

test('a request has the length of its body, which is a new plant', () => {
  const target = { port: 1, path: '/plants', token: 'plant_x', quotesIds: true }
  const { text, expected } = createRequests(target, () => '-5')()
  const [head, body = ''] = text.split('\r\n\r\n')
  expect(head).toContain(`content-length: ${body.length}`)
  expect(JSON.parse(body)).toEqual({ id: '-5', name: 'Fern 100', tag: 'indoor' })
  expect(body).toContain(expected)
})
