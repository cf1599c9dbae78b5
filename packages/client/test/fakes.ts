import { setImmediate } from 'node:timers/promises'
import { expect, onTestFinished, vi } from 'vitest'
import {
  type CreatePlantOptions,
  createPlantStoreClient,
  type PlantStoreClientOptions,
  type PlantStoreFetch,
} from '../src/index.ts'

export const FERN = { id: 7, name: 'Fern' }
export const given = { baseUrl: 'http://127.0.0.1:3000', token: 'token' }

type SentRequest = { readonly url: string } & Parameters<PlantStoreFetch>[1]
export type Responder = (request: SentRequest, attempt: number) => Response | Promise<Response>

/**
 * A client over a fetch without a network, which heeds the signal as the real one does. Its requests
 * get these responses in turn, the last for ever.
 */
export function createFakeClient(
  responders: Responder | readonly Responder[],
  options: PlantStoreClientOptions = {},
) {
  const all = [responders].flat()
  const sent: SentRequest[] = []
  const fetch: PlantStoreFetch = async (url, init) => {
    const { signal } = init
    const request = { url, ...init }
    const attempt = sent.push(request)
    const aborted = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    })
    const respond = all[Math.min(attempt, all.length) - 1] as Responder
    return Promise.race([respond(request, attempt), aborted])
  }
  return { sent, fetch, ...createPlantStoreClient({ ...given, fetch, ...options }) }
}

export function respondJson(status: number, value: unknown, headers = {}): () => Response {
  return () => new Response(JSON.stringify(value), { status, headers })
}

export const respondFern = respondJson(200, { name: 'Fern' })

/** Responds with this Error, whose status is that of its number. */
export function refuse(error: number, headers = {}): () => Response {
  return respondJson(Math.floor(error / 100), { error, message: 'no' }, headers)
}

/** Responds with what is no response of the plant store. */
export function page(status = 200, text = '<p>', headers = {}): () => Response {
  return () => new Response(text, { status, headers })
}

/** Asks to wait for so many seconds. */
export const tooMany = (seconds: number) => refuse(42900, { 'retry-after': String(seconds) })

/** Responds with this text, and then breaks off. */
export function breakOff(text = '', headers = {}, goOn = async () => {}): () => Response {
  const start = (body: ReadableStreamDefaultController) =>
    body.enqueue(new TextEncoder().encode(text))
  const pull = (body: ReadableStreamDefaultController) =>
    goOn().then(() => body.error(new Error('gone')))
  return () => new Response(new ReadableStream({ start, pull }), { headers })
}

/** What fetch throws for a system's error. */
export function fetchFailed(code: string, syscall?: string): TypeError {
  const cause = Object.assign(new Error(`${syscall} ${code}`), { code, syscall })
  return new TypeError('fetch failed', { cause })
}

export const lose = () => Promise.reject<Response>(fetchFailed('ECONNRESET', 'read'))
export const refuseConnection = () =>
  Promise.reject<Response>(fetchFailed('ECONNREFUSED', 'connect'))
export const hang = () => new Promise<Response>(() => {})

/** Listeners that fail. */
export const failingListeners: readonly (readonly [how: string, listener: () => unknown])[] = [
  ['rejects', () => Promise.reject(new Error('deaf'))],
  ['throws', () => JSON.parse('deaf')],
]

/** The wall clock of a fake clock shows this at its start. */
export const START_OF_TIME = Date.UTC(2030, 0, 1)

/** From now to the end of the test the clocks stand still, but in runUntilDone. */
export function stopClocks(random: () => number = () => 0.5): void {
  vi.useFakeTimers({
    now: START_OF_TIME,
    toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'],
  })
  const chance = vi.spyOn(Math, 'random').mockImplementation(random)
  onTestFinished(() => {
    vi.useRealTimers()
    chance.mockRestore()
  })
}

/** Lets time pass, timer by timer, until the work is done. */
export async function runUntilDone<T>(work: Promise<T>): Promise<T> {
  let isDone = false
  const done = () => {
    isDone = true
  }
  work.then(done, done)
  for (;;) {
    await setImmediate()
    if (isDone) return work
    if (vi.getTimerCount() === 0) throw new Error('the work waits for something that is no timer')
    vi.advanceTimersToNextTimer()
  }
}

/** A call by a clock of its own, whose attempts get these responses in turn. */
export async function run(
  responders: Responder | readonly Responder[],
  options: PlantStoreClientOptions = {},
  callOptions: CreatePlantOptions = {},
) {
  stopClocks()
  const { sent, tryCreatePlant } = createFakeClient(responders, options)
  const result = await runUntilDone(tryCreatePlant(FERN, callOptions))
  expect(vi.getTimerCount()).toBe(0)
  const error = result.ok ? undefined : result.error
  return { sent, ...result, error, lastedMs: Math.floor(result.meta.durationMs) }
}

export function delay(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms))
}

/** Numbers from 0 up to 1 that are the same in every run (mulberry32). */
export function createSeededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
