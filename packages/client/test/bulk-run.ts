import { expect, vi } from 'vitest'
import {
  type CreatePlantsOptions,
  type CreatePlantsResult,
  createPlants,
  isPlantStoreError,
  type PlantStoreClientOptions,
} from '../src/index.ts'
import { createFakeClient, delay, runUntilDone, stopClocks } from './fakes.ts'

export interface Fern {
  readonly id: number
  readonly name: string
}

export function* ferns(count: number): Generator<Fern> {
  for (let id = 0; id < count; id++) yield { id, name: 'Fern' }
}

export interface Script extends CreatePlantsOptions {
  /** Called 10 ms after a request, `at` so many ms since the begin. */
  readonly respond: (id: number, at: number, attempt: number) => Response | Promise<Response>
  /** So many ferns, where there is no other source; by default 40. */
  readonly rows?: number
  readonly source?: Iterable<Fern> | AsyncIterable<Fern>
  readonly client?: PlantStoreClientOptions
  readonly onResult?: (result: CreatePlantsResult<Fern>) => Promise<void> | void
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
      await onResult?.(result)
    }
  }
  const thrown = await runUntilDone(work()).catch((error: unknown) => error)
  // Responses to the calls of a loop that was left are still on their way.
  const isLeft = thrown !== undefined && !isPlantStoreError(thrown)
  if (!isLeft) expect(vi.getTimerCount()).toBe(0)
  const failed = results.filter(({ ok }) => !ok)
  return { results, failed, thrown, sent, lastedMs: performance.now() - begin }
}

export const upTo = (count: number) => Array.from({ length: count }, (_, index) => index)
export const indexesOf = (results: readonly CreatePlantsResult[]) =>
  results.map(({ index }) => index).toSorted((a, b) => a - b)

/** Runs a bulk that stores all of its plants. */
export async function runToEnd(script: Script) {
  const run = await runBulk(script)
  expect(run).toMatchObject({ thrown: undefined, failed: [] })
  const { rows = 40 } = script
  expect(indexesOf(run.results)).toEqual(upTo(rows))
  return run
}
