import { assertEqual, assertTrue, assertWithin } from '../assertions.ts'
import type { Case, CaseTools } from '../case.ts'
import { watchListeners } from '../leftovers.ts'
import { proxyPage, refused, stored, unavailable } from '../replies.ts'

function* plants(count: number): Generator<{ id: number; name: string }> {
  for (let id = 0; id < count; id++) yield { id, name: 'Fern' }
}

/** For a second the server is gone, in ms since the case was opened. */
function isGone(atMs: number): boolean {
  return atMs > 150 && atMs < 1_150
}

type ClientOptions = Parameters<CaseTools['client']>[0]

/** Every row is stored by its result, although a call alone would have failed. */
async function storesAll(
  { client, library }: CaseTools,
  options: ClientOptions = {},
): Promise<void> {
  const own = client({ maxRetries: 0, timeoutMs: 300, totalTimeoutMs: 400, ...options })
  const rows = new Set<number>()
  async function* slowly(): AsyncGenerator<{ id: number; name: string }> {
    for (const plant of plants(60)) {
      await new Promise((resolve) => setTimeout(resolve, 10))
      yield plant
    }
  }
  for await (const { index, ok } of library.createPlants(own, slowly(), { concurrency: 4 })) {
    assertTrue(ok && !rows.has(index), `row ${index} is stored, and given once`)
    rows.add(index)
  }
  assertEqual(rows.size, 60, 'rows')
}

export const bulkCases: readonly Case[] = [
  {
    claim: 'many plants: each row comes back once, refused rows beside stored ones',
    script: ({ request, send }) =>
      send(request.body.includes('"id":5,') ? refused(40003, 'taken') : stored()),
    async check({ client, library }) {
      const rows: string[] = []
      for await (const row of library.createPlants(client(), plants(20), { concurrency: 4 })) {
        rows.push(`${row.index} ${row.ok}`)
      }
      const expected = Array.from({ length: 20 }, (_, index) => `${index} ${index !== 5}`)
      assertEqual(rows.toSorted(), expected.toSorted(), 'rows')
    },
  },
  {
    claim: 'many plants: never more at once than allowed, never read further ahead',
    script: async ({ send, pause }) => {
      await pause(5)
      send(stored())
    },
    async check({ client, library }) {
      let read = 0
      let taken = 0
      function* counted(): Generator<{ id: number; name: string }> {
        for (const plant of plants(30)) {
          read++
          assertTrue(read - taken <= 4, `${read - taken} rows are read ahead`)
          yield plant
        }
      }
      for await (const { ok } of library.createPlants(client(), counted(), { concurrency: 3 })) {
        assertTrue(ok, 'the row is stored')
        taken++
      }
      assertEqual(taken, 30, 'rows')
    },
  },
  {
    claim: 'many plants: one 429 pauses every worker',
    script: ({ attempt, send }) =>
      send(attempt === 1 ? refused(42900, 'too many', ['retry-after: 1']) : stored()),
    async check({ client, library, seen }) {
      for await (const { ok } of library.createPlants(client(), plants(30), { concurrency: 3 })) {
        assertTrue(ok, 'the row is stored')
      }
      const early = (await seen()).filter(({ atMs }) => atMs < 900)
      // The first request, its two neighbours, and what a neighbour sent before the 429 arrived.
      assertTrue(early.length <= 6, `${early.length} requests in the pause`)
    },
  },
  {
    claim: 'many plants: a token that is refused ends the work instead of failing every row',
    script: ({ send }) => send(refused(40101, 'no')),
    async check({ client, library, seen }) {
      let rows = 0
      try {
        for await (const _ of library.createPlants(client(), plants(200), { concurrency: 3 }))
          rows++
      } catch (error) {
        assertTrue(error instanceof library.PlantStoreError, `it is ${error}`)
      }
      assertTrue(rows < 20, `${rows} rows`)
      assertTrue((await seen()).length < 20, 'requests')
    },
  },
  {
    claim: 'many plants: a source that throws ends the loop with its own error',
    script: ({ send }) => send(stored()),
    async check({ client, library }) {
      const broken = new Error('the file ends in the middle')
      function* source(): Generator<{ id: number; name: string }> {
        yield* plants(5)
        throw broken
      }
      let caught: unknown
      try {
        for await (const _ of library.createPlants(client(), source(), { concurrency: 2 }));
      } catch (error) {
        caught = error
      }
      assertTrue(caught === broken, `it is ${caught}`)
    },
  },
  {
    claim: 'many plants: connections that break for a second fail no row',
    script: ({ request, send, reset }) => (isGone(request.atMs) ? reset() : send(stored())),
    check: storesAll,
  },
  {
    claim: 'many plants: a server that says nothing for a second fails no row',
    script: ({ request, send }) => (isGone(request.atMs) ? undefined : send(stored())),
    check: storesAll,
  },
  {
    claim: 'many plants: 503 for a second fails no row',
    script: ({ request, send }) => send(isGone(request.atMs) ? unavailable() : stored()),
    check: storesAll,
  },
  {
    claim: 'many plants: the 502 of a proxy for a second fails no row',
    script: ({ request, send }) => send(isGone(request.atMs) ? proxyPage(502) : stored()),
    check: storesAll,
  },
  {
    claim: 'many plants: a Retry-After beyond what one call waits for is waited for',
    script: ({ attempt, send }) =>
      send(attempt <= 3 ? refused(42900, 'too many', ['retry-after: 1']) : stored()),
    check: (tools) => storesAll(tools, { maxRetryAfterMs: 500 }),
  },
  {
    claim: 'many plants: a server that never comes back ends the loop after maxOutageMs',
    script: ({ reset }) => reset(),
    async check({ client, library, refusedUrl }) {
      const options = { concurrency: 4, maxOutageMs: 1_000 }
      const begin = performance.now()
      const rows: string[] = []
      let caught: unknown
      try {
        const gone = client({ baseUrl: refusedUrl })
        for await (const row of library.createPlants(gone, plants(100), options)) {
          rows.push(row.ok ? 'stored' : row.error.code)
        }
      } catch (error) {
        caught = error
      }
      assertTrue(caught instanceof library.PlantStoreError, `it is ${caught}`)
      assertWithin(performance.now() - begin, 1_000, 3_500, 'time to the end')
      assertEqual(rows.length, 4, 'rows')
      assertTrue(!rows.includes('stored'), 'no row is stored')
    },
  },
  {
    claim: 'many plants: a row whose connection always breaks fails alone',
    script: ({ request, send, reset }) =>
      request.body.includes('"id":5,') ? reset() : send(stored()),
    async check({ client, library }) {
      // So many that the others outlast it: where it is the last, it might as well be an outage.
      const failed: number[] = []
      for await (const row of library.createPlants(client(), plants(400), { concurrency: 4 })) {
        if (!row.ok) failed.push(row.index)
      }
      assertEqual(failed, [5], 'rows that failed')
    },
  },
  {
    claim: 'many plants: a loop that is left closes the source and sends nothing more',
    script: async ({ attempt, send, pause }) => {
      await pause(5)
      send(attempt === 1 ? stored() : unavailable())
    },
    async check({ client, library }) {
      let isClosed = false
      function* source(): Generator<{ id: number; name: string }> {
        try {
          yield* plants(1_000)
        } finally {
          isClosed = true
        }
      }
      const options = { concurrency: 4 }
      const { createPlants } = library
      for await (const _ of createPlants(client({ maxRetries: 0 }), source(), options)) break
      assertTrue(isClosed, 'the source is closed')
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
      assertTrue(caught instanceof library.PlantStoreError, `it is ${caught}`)
      assertWithin(performance.now() - abortedAtMs, 0, 1_000, 'time from abort to end')
      assertEqual(listeners.count(), 0, 'listeners left')
    },
  },
]
