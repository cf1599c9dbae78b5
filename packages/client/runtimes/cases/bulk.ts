import { assertEqual, assertTrue, type Case, type CaseTools, type Script } from '../case.ts'
import { proxyPage, says, stored, unavailable } from '../responses.ts'

async function* plants(count: number, pauseMs = 0) {
  for (let id = 0; id < count; id++) {
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs))
    yield { id, name: 'Fern' }
  }
}

const failures: Readonly<Record<string, Script>> = {
  'a connection that breaks': ({ reset }) => reset(),
  silence: () => {},
  503: says(unavailable()),
  'the 502 of a proxy': says(proxyPage(502)),
  'the 503 of a proxy': says(proxyPage(503)),
}

/** What comes of each row, in an order of its own. */
async function run(
  { client, library }: CaseTools,
  source: AsyncIterable<{ id: number; name: string }>,
): Promise<{ stored: number; failed: number[] }> {
  const own = client({ options: { maxRetries: 0, timeoutMs: 300, totalTimeoutMs: 400 } })
  const failed: number[] = []
  let count = 0
  for await (const { index, ok } of library.createPlants(own, source, { concurrency: 4 })) {
    if (ok) count++
    else failed.push(index)
  }
  return { stored: count, failed: failed.toSorted((one, other) => one - other) }
}

/** For a second the server is gone; each row is stored, although a call alone would have failed. */
const outage = ([what, fail]: [string, Script]): Case => ({
  claim: `many plants: ${what} for a second fails no row`,
  script(exchange) {
    const isGone = exchange.atMs > 150 && exchange.atMs < 1_150
    return (isGone ? fail : says(stored()))(exchange)
  },
  async check(tools) {
    assertEqual(await run(tools, plants(60, 10)), { stored: 60, failed: [] }, 'rows')
  },
})

/** Two rows meet a failure each time, the last one of them. */
const badRows = ([what, fail]: [string, Script]): Case => ({
  claim: `many plants: ${what} that only some rows meet, the last one too, is told as their result`,
  script(exchange) {
    const isBad = /"id":(?:5|99),/.test(exchange.request.body)
    return (isBad ? fail : says(stored()))(exchange)
  },
  async check(tools) {
    const begin = performance.now()
    assertEqual(await run(tools, plants(100)), { stored: 98, failed: [5, 99] }, 'rows')
    assertTrue(performance.now() - begin < 10_000, 'it ends in time')
  },
})

/** A bulk that throws: with which code, after how long, and after how many rows of each kind. */
async function failingRun(
  { client, library }: CaseTools,
  to: 'server' | 'nobody',
  options: Parameters<CaseTools['library']['createPlants']>[2],
  onRow: (ok: boolean) => void,
): Promise<{ code: string; ms: number }> {
  const begin = performance.now()
  try {
    const rows = library.createPlants(client({ to }), plants(100), options)
    for await (const { ok } of rows) onRow(ok)
  } catch (error) {
    const ms = performance.now() - begin
    return { code: library.isPlantStoreError(error) ? error.code : String(error), ms }
  }
  return { code: 'none', ms: performance.now() - begin }
}

export const bulkCases: readonly Case[] = [
  ...Object.entries(failures).map(outage),
  // What the server itself says is its own state, not the row's.
  ...Object.entries(failures)
    .filter(([what]) => what !== '503')
    .map(badRows),
  {
    claim: 'many plants: a server that never comes back ends the loop after maxOutageMs',
    script: () => {},
    async check(tools) {
      const rows: boolean[] = []
      const options = { concurrency: 4, maxOutageMs: 1_000 }
      const { code, ms } = await failingRun(tools, 'nobody', options, (ok) => void rows.push(ok))
      assertTrue(/^connection_/.test(code), `it is ${code}`)
      assertTrue(ms >= 1_000 && ms <= 3_500, `it took ${ms} ms`)
      assertEqual(rows, [false, false, false, false], 'rows')
    },
  },
  {
    claim: 'many plants: an abort ends the loop at once',
    script: ({ attempt, send }) => attempt < 6 && send(stored()),
    async check(tools) {
      const controller = new AbortController()
      let left = 5
      const options = { concurrency: 3, signal: controller.signal }
      const { code, ms } = await failingRun(tools, 'server', options, (ok) => {
        if (ok && --left === 0) controller.abort()
      })
      assertEqual([code, left], ['aborted', 0], 'the error, and rows that were not stored')
      assertTrue(ms < 1_400, `it took ${ms} ms`)
    },
  },
]
