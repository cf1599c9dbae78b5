import { expect } from 'vitest'
import type { Case } from '../case.ts'
import { resets, type Script, says } from '../exchange.ts'
import { proxyPage, stored, unavailable } from '../responses.ts'

const ROWS = 60

const rows: readonly [what: string, fail: Script][] = [
  ['a connection that breaks', resets],
  ['silence', () => {}],
  ['503', says(unavailable())],
  ['the 502 of a proxy', says(proxyPage(502))],
  ['the 503 of a proxy', says(proxyPage(503))],
  ['a 503 that says when to come back', says(proxyPage(503, 'retry-after: 2'))],
  ['the 429 of a proxy', says(proxyPage(429, 'retry-after: 1'))],
]

/** For a second the server is gone; each row is stored, although a call alone would have failed. */
export const bulkCases = rows.map(
  ([what, fail]): Case => ({
    claim: `many plants: ${what} for a second fails no row`,
    script(exchange) {
      const isGone = exchange.atMs > 150 && exchange.atMs < 1_150
      return (isGone ? fail : says(stored()))(exchange)
    },
    calls: [
      { rows: ROWS, options: { maxRetries: 0, timeoutMs: 300, totalTimeoutMs: 400 }, ends: {} },
    ],
    check([facts], seen) {
      expect(facts?.rows).toEqual(Array(ROWS).fill(true))
      expect(seen.length).toBeGreaterThan(ROWS)
    },
  }),
)
