import { expect } from 'vitest'
import type { Case } from '../case.ts'
import { resets, type Script, says } from '../exchange.ts'
import { proxyPage, stored, unavailable } from '../responses.ts'

const ROWS = 60

type Row = [what: string, fail: Script, state: 'outage' | 'waiting']

const rows: readonly Row[] = [
  ['a connection that breaks', resets, 'outage'],
  ['silence', () => {}, 'outage'],
  ['503', says(unavailable()), 'outage'],
  ['the 502 of a proxy', says(proxyPage(502)), 'outage'],
  ['the 503 of a proxy', says(proxyPage(503)), 'outage'],
  ['a 503 that says when to come back', says(proxyPage(503, 'retry-after: 2')), 'waiting'],
  ['the 429 of a proxy', says(proxyPage(429, 'retry-after: 1')), 'waiting'],
]

/** For a second the server is gone; each row is stored, although a call alone would have failed. */
export const bulkCases = rows.map(
  ([what, fail, state]): Case => ({
    claim: `many plants: ${what} for a second fails no row, and is told as ${state}`,
    script(exchange) {
      const isGone = exchange.atMs > 150 && exchange.atMs < 1_150
      return (isGone ? fail : says(stored()))(exchange)
    },
    calls: [
      { rows: ROWS, options: { maxRetries: 0, timeoutMs: 300, totalTimeoutMs: 400 }, ends: {} },
    ],
    check([facts]) {
      expect(facts?.rows).toEqual(Array(ROWS).fill(true))
      expect(facts?.states).toEqual(expect.arrayContaining(['running', state]))
    },
  }),
)
