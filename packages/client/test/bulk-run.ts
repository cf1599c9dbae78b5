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

export interface Run {
  readonly results: readonly CreatePlantsResult<Fern>[]
  readonly thrown: unknown
  /** Each request, in ms since the begin. */
  readonly sent: readonly { readonly id: number; readonly at: number }[]
  readonly lastedMs: number
}

export interface Script {
  /** Called 10 ms after a request, `at` so many ms since the begin. */
  readonly reply: (id: number, at: number, attempt: number) => Response | Promise<Response>
  readonly source?: Iterable<Fern> | AsyncIterable<Fern>
  readonly options?: CreatePlantsOptions
  readonly client?: PlantStoreClientOptions
  readonly onResult?: (result: CreatePlantsResult<Fern>) => Promise<void> | void
}

/** Runs a bulk by a clock of its own; each reply takes 10 ms. */
export async function runBulk(script: Script): Promise<Run> {
  const { reply, source = ferns(40), options = {}, client: own, onResult } = script
  stopClocks()
  const begin = performance.now()
  const sent: { id: number; at: number }[] = []
  const client = createFakeClient(async ({ body }, attempt) => {
    // NaN for what is no plant.
    const id = Number(/\d+/.exec(body) ?? Number.NaN)
    sent.push({ id, at: performance.now() - begin })
    await delay(10)
    return reply(id, performance.now() - begin, attempt)
  }, own)
  const results: CreatePlantsResult<Fern>[] = []
  const work = async () => {
    for await (const result of createPlants(client, source, options)) {
      results.push(result)
      await onResult?.(result)
    }
  }
  const thrown = await runUntilDone(work()).catch((error: unknown) => error)
  // Replies to the calls of a loop that was left are still on their way.
  const isLeft = thrown !== undefined && !isPlantStoreError(thrown)
  if (!isLeft) expect(vi.getTimerCount()).toBe(0)
  return { results, thrown, sent, lastedMs: performance.now() - begin }
}
