import { assertEqual, type Case } from '../case.ts'
import { resets, type Script, says } from '../exchange.ts'
import { proxyPage, stored, unavailable } from '../responses.ts'

const ROWS = 60

async function* slowPlants() {
  for (let id = 0; id < ROWS; id++) {
    await new Promise((resolve) => setTimeout(resolve, 10))
    yield { id, name: 'Fern' }
  }
}

type Row = [what: string, fail: Script, state: 'outage' | 'waiting']

const rows: readonly Row[] = [
  ['a connection that breaks', resets, 'outage'],
  ['silence', () => {}, 'outage'],
  ['503', says(unavailable()), 'outage'],
  ['the 502 of a proxy', says(proxyPage(502)), 'outage'],
  ['the 503 of a proxy', says(proxyPage(503)), 'outage'],
  [
    'the 503 of a proxy that says when to come back',
    says(proxyPage(503, 'retry-after: 2')),
    'waiting',
  ],
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
    async check(run) {
      const { createPlants, createPlantStoreClient } = run.setup.library
      const options = { maxRetries: 0, timeoutMs: 300, totalTimeoutMs: 400 }
      const client = createPlantStoreClient(run.optionsOf({ options }))
      const states = new Set<string>()
      const results: boolean[] = []
      for await (const { index, ok } of createPlants(client, slowPlants(), {
        concurrency: 4,
        onProgress: (progress) => void states.add(progress.state.type),
      })) {
        results[index] = ok
      }
      assertEqual(results, Array(ROWS).fill(true), 'rows')
      assertEqual([states.has('running'), states.has(state)], [true, true], 'states')
    },
  }),
)
