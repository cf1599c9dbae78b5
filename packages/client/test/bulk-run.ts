import { expect, vi } from 'vitest'
import { type CreatePlantsOptions, type CreatePlantsResult, createPlants } from '../src/index.ts'
import { createFakeClient, delay, runUntilDone, stopClocks } from './fakes.ts'

export const upTo = (count: number) => Array.from({ length: count }, (_, index) => index)
export const ferns = (count: number) => upTo(count).map((id) => ({ id, name: 'Fern' }))
type Fern = ReturnType<typeof ferns>[number]

export interface Script extends CreatePlantsOptions {
  /** Called 10 ms after a request, `at` so many ms since the begin. */
  readonly respond: (id: number, at: number, attempt: number) => Response | Promise<Response>
  /** So many ferns, where there is no other source; by default 40. */
  readonly rows?: number
  readonly source?: Iterable<Fern> | AsyncIterable<Fern>
  readonly client?: Parameters<typeof createFakeClient>[1]
  readonly onResult?: () => Promise<void>
}

/** Runs a bulk by a clock of its own; each response takes 10 ms. */
export async function runBulk({ respond, rows = 40, client: own, onResult, ...script }: Script) {
  const { source = ferns(rows), ...options } = script
  stopClocks()
  const begin = performance.now()
  /** Each request, in ms since the begin; its id is NaN for what is no plant. */
  const sent: { id: number; at: number }[] = []
  const client = createFakeClient(async ({ body }, attempt) => {
    const id = Number(/\d+/.exec(body) ?? Number.NaN)
    sent.push({ id, at: performance.now() - begin })
    await delay(10)
    return respond(id, performance.now() - begin, attempt)
  }, own)
  const results: CreatePlantsResult<Fern>[] = []
  const work = async () => {
    for await (const result of createPlants(client, source, options)) {
      results.push(result)
      await onResult?.()
    }
  }
  const thrown = await runUntilDone(work()).catch((error: unknown) => error)
  expect(vi.getTimerCount()).toBe(0)
  const sorted = results.toSorted((one, other) => one.index - other.index)
  const [failed, indexes] = [sorted.filter(({ ok }) => !ok), sorted.map(({ index }) => index)]
  return { results, failed, indexes, thrown, sent, lastedMs: performance.now() - begin }
}

/** Runs a bulk that stores all of its plants. */
export async function runToEnd(script: Script) {
  const run = await runBulk(script)
  expect(run).toMatchObject({ thrown: undefined, failed: [], indexes: upTo(script.rows ?? 40) })
  return run
}
