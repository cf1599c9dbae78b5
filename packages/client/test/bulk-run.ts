import { expect } from 'vitest'
import type { PlantSource } from '../src/bulk.ts'
import { createClient } from '../src/client.ts'
import { createPlantsWith } from '../src/create-plants.ts'
import type {
  CreatePlantsOptions,
  CreatePlantsResult,
  PlantStoreClientOptions,
} from '../src/index.ts'
import { createFakeFetch, delay, type FakeReply, replyJson } from './fake-fetch.ts'
import { createFakeRuntime, type FakeRuntime } from './fake-runtime.ts'

export interface Fern {
  readonly id: number
  readonly name: string
}

export function* ferns(count: number): Generator<Fern> {
  for (let id = 0; id < count; id++) yield { id, name: 'Fern' }
}

/** NaN for what is no plant. */
export const idOf = (body: string) => Number(/\d+/.exec(body) ?? Number.NaN)
export const tooMany = (retryAfter: string) =>
  replyJson(429, { error: 42900, message: 'many' }, { 'retry-after': retryAfter })

export interface Run {
  readonly results: readonly CreatePlantsResult<Fern>[]
  readonly thrown: unknown
  readonly sent: readonly { readonly id: number; readonly at: number }[]
  readonly runtime: FakeRuntime
}

export interface Script {
  readonly reply: (
    id: number,
    runtime: FakeRuntime,
    attempt: number,
  ) => Response | Promise<Response>
  readonly source?: PlantSource<Fern>
  readonly options?: CreatePlantsOptions
  readonly client?: PlantStoreClientOptions
}

/** Runs a bulk by a clock of its own; each reply takes 10 ms. */
export async function runBulk({
  reply,
  source = ferns(40),
  options = {},
  client: own,
}: Script): Promise<Run> {
  const runtime = createFakeRuntime()
  const sent: { id: number; at: number }[] = []
  const respond: FakeReply = async ({ body }, attempt) => {
    const id = idOf(body)
    sent.push({ id, at: runtime.now() })
    await delay(runtime, 10)
    return reply(id, runtime, attempt)
  }
  const { fetch } = createFakeFetch(respond)
  const settings = { baseUrl: 'http://127.0.0.1:3000', token: 'token', fetch, ...own }
  const client = createClient(settings, runtime)
  const results: CreatePlantsResult<Fern>[] = []
  const work = async () => {
    for await (const result of createPlantsWith(client, source, options, runtime))
      results.push(result)
  }
  const thrown = await runtime.runUntilDone(work()).catch((error: unknown) => error)
  expect(runtime.running).toBe(0)
  return { results, thrown, sent, runtime }
}
