import { describe, expect, test } from 'vitest'
import { findSecret } from '../runtimes/secret-search.ts'
import type { PlantStoreClientOptions, PlantStoreEvent, TokenFunction } from '../src/index.ts'
import {
  createFakeClient,
  FERN,
  lose,
  page,
  type Responder,
  refuse,
  respondFern,
  respondJson,
  run,
} from './fakes.ts'

type TokenContext = Parameters<TokenFunction>[0]

const refused = refuse(40101)
const takeFresh: Responder = ({ headers }) =>
  (headers.authorization === 'Bearer fresh' ? respondFern : refused)()

/** A client with a token function that notes each `refresh`, and gives another after the first. */
function createNoting(responders: Responder | readonly Responder[], maxRetries = 3) {
  const refreshes: boolean[] = []
  const token = async ({ refresh }: TokenContext) => {
    refreshes.push(refresh)
    return refreshes.includes(true) ? 'fresh' : 'stale'
  }
  return { refreshes, ...createFakeClient(responders, { token, maxRetries }) }
}

describe('a token function', () => {
  test('is asked once for a call, however many attempts it takes', async () => {
    const { refreshes, sent, createPlant } = createNoting([lose, respondFern])
    await createPlant(FERN)
    expect([refreshes, sent.length]).toEqual([[false], 2])
  })

  test('is asked for a fresh one when the server refuses it, once in a call', async () => {
    const client = createNoting(takeFresh)
    await client.createPlant(FERN)
    expect([client.refreshes, client.sent.length]).toEqual([[false, true], 2])
    const { ok, meta } = await createNoting(refused).tryCreatePlant(FERN)
    expect([ok, meta.attempts]).toEqual([false, 2])
  })

  test('gets the refusal in the next call where one without retries may not ask again', async () => {
    const { refreshes, sent, tryCreatePlant } = createNoting(takeFresh, 0)
    expect((await tryCreatePlant(FERN)).ok).toBe(false)
    expect(sent).toHaveLength(1)
    expect((await tryCreatePlant(FERN)).ok).toBe(true)
    expect((await tryCreatePlant(FERN)).ok).toBe(true)
    expect(refreshes).toEqual([false, true, false])
  })

  test('is asked once for calls at the same time, to refresh as well', async () => {
    const { refreshes, createPlant } = createNoting(takeFresh)
    await Promise.all([1, 2, 3, 4].map((id) => createPlant({ id, name: 'Fern' })))
    expect(refreshes).toEqual([false, true])
  })

  test('is not asked to refresh what another call has had refreshed', async () => {
    const gate = Promise.withResolvers<void>()
    const respond: Responder = async (request, attempt) => {
      if (attempt === 1) await gate.promise
      return takeFresh(request, attempt)
    }
    const { refreshes, createPlant } = createNoting(respond)
    const slow = createPlant({ id: 1, name: 'Fern' })
    await createPlant({ id: 2, name: 'Fern' })
    gate.resolve()
    await slow
    expect(refreshes).toEqual([false, true, false])
  })

  test('is asked for a fresh one though a question of before the refusal is open', async () => {
    const open = Promise.withResolvers<string>()
    let asked = 0
    const token: TokenFunction = ({ refresh }) => {
      if (refresh) return 'fresh'
      return ++asked === 1 ? 'stale' : open.promise
    }
    let late: Promise<unknown> | undefined
    const respond: Responder = (request, attempt) => {
      if (attempt === 1) late = client.tryCreatePlant({ id: 2, name: 'Fern' })
      return takeFresh(request, attempt)
    }
    const client = createFakeClient(respond, { token })
    expect((await client.tryCreatePlant(FERN)).ok).toBe(true)
    open.resolve('fresh')
    expect(await late).toMatchObject({ ok: true })
  })

  test('goes on for those who still wait, and its signal is aborted when none does', async () => {
    const asked: AbortSignal[] = []
    const token = ({ signal }: TokenContext) => {
      asked.push(signal)
      return asked.length < 3 ? new Promise<string>(() => {}) : 'token'
    }
    const { tryCreatePlant } = createFakeClient(respondFern, { token })
    const [first, second, third] = [0, 1, 2].map(() => new AbortController())
    const calls = [first, second].map((by) => tryCreatePlant(FERN, { signal: by?.signal }))
    await new Promise(setImmediate)
    first?.abort()
    expect(await calls[0]).toMatchObject({ ok: false, error: { code: 'aborted', attempts: 0 } })
    expect(asked.map(({ aborted }) => aborted)).toEqual([false])
    second?.abort()
    await calls[1]
    expect(asked.map(({ aborted }) => aborted)).toEqual([true])
    const last = tryCreatePlant(FERN, { signal: third?.signal })
    await new Promise(setImmediate)
    third?.abort()
    await last
    // Once it has given a token its signal stays as it is.
    await tryCreatePlant(FERN)
    expect(asked.map(({ aborted }) => aborted)).toEqual([true, true, false])
  })

  test.each([
    ['closed', 'no Error'],
    [undefined, 'no Error'],
    [Object.assign(new Error('closed'), { name: 'no name' }), 'no Error'],
    [Object.assign(new Error('hunter2!'), { name: 'VaultError' }), 'VaultError'],
  ])('that throws %o is named as one that threw %s, and asked anew', async (thrown, kind) => {
    let asked = 0
    const token = () => (++asked === 1 ? Promise.reject(thrown) : 'token')
    const { createPlant } = createFakeClient(respondFern, { token })
    const code = 'token_provider_failed'
    const message = `token could not be had: its function threw ${kind}`
    const error = { name: 'PlantStoreError', code, message, applied: 'no', attempts: 0 }
    const call = createPlant(FERN)
    await expect(call).rejects.toMatchObject(error)
    await expect(call).rejects.toSatisfy((it) => findSecret(it, 'hunter2!') === undefined)
    expect(await createPlant(FERN)).toEqual({ name: 'Fern' })
  })

  test.each<[string, TokenFunction, string]>([
    ['fails', () => Promise.reject(new Error('down')), 'token_provider_failed'],
    ['gives no token', () => 'two words', 'invalid_token'],
  ])('that %s gives each call that waits the facts of that call', async (_how, give, code) => {
    const asked = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const token: TokenFunction = async (context) => {
      if (!context.refresh) return 'stale'
      asked.resolve()
      await goOn.promise
      return give(context)
    }
    const { tryCreatePlant } = createFakeClient([lose, refused], { token })
    const first = tryCreatePlant(FERN)
    await asked.promise
    const second = tryCreatePlant(FERN)
    goOn.resolve()
    const [one, other] = await Promise.all([first, second])
    if (one.ok || other.ok) throw new Error('it was stored')
    expect(one.error).toMatchObject({ code, applied: 'maybe', attempts: 2 })
    expect(other.error).toMatchObject({ code, applied: 'no', attempts: 0 })
    expect([one.error.requestId, other.error.requestId]).toEqual([one.meta.requestId, undefined])
  })

  test('may give white space around it, which is left out', async () => {
    const { sent } = await run(respondFern, { token: () => 'abc\n' })
    expect(sent).toMatchObject([{ headers: { authorization: 'Bearer abc' } }])
  })

  test.each([undefined, null, 5, '', '  '])('that gives %o sends nothing', async (value) => {
    const token = (() => value) as () => string
    const { sent, error } = await run(respondFern, { token })
    expect(error).toMatchObject({ code: 'invalid_token' })
    expect(sent).toEqual([])
  })
})

describe('checkToken', () => {
  function check(respond: Responder, options: PlantStoreClientOptions = {}) {
    const { sent, checkToken } = createFakeClient(respond, { maxRetries: 1, ...options })
    return { sent, checked: checkToken({ requestId: 'check-1' }) }
  }

  test('takes one request where the server takes the token, and reports no failure', async () => {
    const events: PlantStoreEvent[] = []
    const { checked, sent } = check(refuse(40002), { onEvent: (event) => events.push(event) })
    expect(await checked).toBeUndefined()
    expect(sent).toMatchObject([{ body: '{}' }])
    expect(events).toMatchObject([
      { type: 'request', requestId: 'check-1' },
      { type: 'response', status: 400 },
    ])
  })

  test.each<[string, Responder, string, number]>([
    ['refuses its only token', refused, 'unauthorized', 1],
    ['is gone', lose, 'connection_lost', 2],
    ['repeats the request', ({ body }) => new Response(body), 'unexpected_response', 1],
    ['says 200 with a plant', respondFern, 'unexpected_response', 1],
    ['refuses something else', refuse(40000), 'rejected', 1],
    ['refuses it by a 422', respondJson(422, { error: 40002, message: '' }), 'invalid_plant', 1],
    ['is a page', page(404), 'unexpected_response', 1],
  ])('fails where the server %s, and nothing is stored', async (_what, respond, code, attempts) => {
    await expect(check(respond).checked).rejects.toMatchObject({ code, applied: 'no', attempts })
  })
})
