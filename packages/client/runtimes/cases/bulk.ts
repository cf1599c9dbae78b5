import { assertEqual, assertTrue, assertWithin } from '../assertions.ts'
import type { Case, CaseTools, Exchange, Script } from '../case.ts'
import { watchListeners } from '../leftovers.ts'
import { proxyPage, stored, unavailable } from '../replies.ts'

function* plants(count: number): Generator<{ id: number; name: string }> {
  for (let id = 0; id < count; id++) yield { id, name: 'Fern' }
}

const failures: readonly (readonly [what: string, fail: (exchange: Exchange) => void])[] = [
  ['a connection that breaks', ({ reset }) => reset()],
  ['silence', () => {}],
  ['503', ({ send }) => send(unavailable())],
  ['the 502 of a proxy', ({ send }) => send(proxyPage(502))],
  ['the 503 of a proxy', ({ send }) => send(proxyPage(503))],
]

type Rows = { readonly stored: number; readonly failed: readonly number[] }

async function run(
  { client, library }: CaseTools,
  source: AsyncIterable<{ id: number; name: string }> | Iterable<{ id: number; name: string }>,
): Promise<Rows> {
  const own = client({ maxRetries: 0, timeoutMs: 300, totalTimeoutMs: 400 })
  const failed: number[] = []
  let count = 0
  for await (const { index, ok } of library.createPlants(own, source, { concurrency: 4 })) {
    if (ok) count++
    else failed.push(index)
  }
  return { stored: count, failed: failed.toSorted((one, other) => one - other) }
}

/** For a second the server is gone; each row is stored, although a call alone would have failed. */
const outage = ([what, fail]: (typeof failures)[number]): Case => ({
  claim: `many plants: ${what} for a second fails no row`,
  script(exchange) {
    const { atMs } = exchange.request
    if (atMs > 150 && atMs < 1_150) fail(exchange)
    else exchange.send(stored())
  },
  async check(tools) {
    async function* slowly() {
      for (const plant of plants(60)) {
        await new Promise((resolve) => setTimeout(resolve, 10))
        yield plant
      }
    }
    assertEqual(await run(tools, slowly()), { stored: 60, failed: [] }, 'rows')
  },
})

/** Two rows meet a failure each time, the last one of them. */
const badRows = ([what, fail]: (typeof failures)[number]): Case => ({
  claim: `many plants: ${what} that only some rows meet, the last one too, is told as their result`,
  script(exchange) {
    if (/"id":(?:5|99),/.test(exchange.request.body)) fail(exchange)
    else exchange.send(stored())
  },
  async check(tools) {
    const begin = performance.now()
    assertEqual(await run(tools, plants(100)), { stored: 98, failed: [5, 99] }, 'rows')
    assertWithin(performance.now() - begin, 0, 10_000, 'time to the end')
  },
})

const neverBack: Script = ({ reset }) => reset()

export const bulkCases: readonly Case[] = [
  ...failures.map(outage),
  // What the server itself says is its own state, not the row's.
  ...failures.filter(([what]) => what !== '503').map(badRows),
  {
    claim: 'many plants: a server that never comes back ends the loop after maxOutageMs',
    script: neverBack,
    async check({ client, library, refusedUrl }) {
      const options = { concurrency: 4, maxOutageMs: 1_000 }
      const begin = performance.now()
      let rows = 0
      let caught: unknown
      try {
        const gone = client({ baseUrl: refusedUrl })
        for await (const { ok } of library.createPlants(gone, plants(100), options)) {
          assertTrue(!ok, 'no row is stored')
          rows++
        }
      } catch (error) {
        caught = error
      }
      assertTrue(caught instanceof library.PlantStoreError, `it is ${caught}`)
      assertWithin(performance.now() - begin, 1_000, 3_500, 'time to the end')
      assertEqual(rows, 4, 'rows')
    },
  },
  {
    claim: 'many plants: an abort ends the loop at once and leaves no listener behind',
    isAlone: true,
    script: ({ attempt, send }) => (attempt < 6 ? send(stored()) : undefined),
    async check({ client, library }) {
      const controller = new AbortController()
      const listeners = watchListeners(controller.signal)
      const options = { concurrency: 3, signal: controller.signal }
      let rows = 0
      let caught: unknown
      let abortedAtMs = Number.NaN
      try {
        for await (const { ok } of library.createPlants(client(), plants(100), options)) {
          if (ok && ++rows === 5) {
            abortedAtMs = performance.now()
            controller.abort()
          }
        }
      } catch (error) {
        caught = error
      }
      assertTrue(library.isPlantStoreError(caught) && caught.code === 'aborted', `it is ${caught}`)
      assertWithin(performance.now() - abortedAtMs, 0, 1_000, 'time from abort to end')
      assertEqual(listeners.count(), 0, 'listeners left')
    },
  },
]
