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

const refused = refuse(40101)
const full = refuse(50300)
const takeFresh: Responder = ({ headers }) =>
  (headers.authorization === 'Bearer fresh' ? respondFern : refused)()

describe('a token function', () => {
  test.each<[string, Responder | readonly Responder[], number, boolean[], number, string?]>([
    ['once for a call, however many attempts it takes', [lose, respondFern], 1, [false], 2],
    ['for a fresh one where the server refuses it', takeFresh, 1, [false, true], 2],
    ['for that besides every retry', [full, refused, full, respondFern], 2, [false, true], 4],
    ['no third time in a call', refused, 3, [false, true], 2, 'unauthorized'],
    ['once where there are no retries', takeFresh, 0, [false], 1, 'unauthorized'],
  ])('is asked %s', async (_what, responders, maxRetries, refreshes, attempts, code) => {
    const asked: boolean[] = []
    const token: TokenFunction = async ({ refresh }) => {
      asked.push(refresh)
      return refresh ? 'fresh' : 'stale'
    }
    const { error, meta } = await run(responders, { token, maxRetries })
    expect([asked, meta.attempts, error?.code]).toEqual([refreshes, attempts, code])
  })

  test('that hangs holds up its own call alone, and its signal is aborted with that', async () => {
    const asked: AbortSignal[] = []
    const token: TokenFunction = ({ signal }) => {
      if (asked.push(signal) > 1) return 'token'
      const rejects = (reject: (reason: Error) => void) => () => reject(new Error('gone'))
      return new Promise((_, reject) => signal.addEventListener('abort', rejects(reject)))
    }
    const { tryCreatePlant } = createFakeClient(respondFern, { token })
    const controller = new AbortController()
    const first = tryCreatePlant(FERN, { signal: controller.signal })
    expect(await tryCreatePlant(FERN)).toMatchObject({ ok: true })
    controller.abort()
    expect(await first).toMatchObject({ ok: false, error: { code: 'aborted', attempts: 0 } })
    expect(asked.map(({ aborted }) => aborted)).toEqual([true, false])
  })

  test('that hangs until the time of the call is over has nothing sent', async () => {
    const token = () => new Promise<string>(() => {})
    const { sent, error } = await run(respondFern, { token, totalTimeoutMs: 50 })
    expect(error).toMatchObject({ code: 'total_timeout', timeoutMs: 50, applied: 'no' })
    expect(sent).toEqual([])
  })

  test.each<[unknown]>([
    ['hunter2!'],
    [undefined],
    [Object.assign(new Error('hunter2!'), { name: 'hunter2!' })],
  ])(
    'that throws %o is named without its words, and asked anew by the next call',
    async (thrown) => {
      let asked = 0
      const token = () => (++asked === 1 ? Promise.reject(thrown) : 'token')
      const { createPlant } = createFakeClient(respondFern, { token })
      const error: unknown = await createPlant(FERN).catch((reason: unknown) => reason)
      const message = 'token could not be had: its function threw'
      expect(error).toMatchObject({ code: 'token_provider_failed', message, applied: 'no' })
      expect(findSecret(error, 'hunter2!')).toBeUndefined()
      expect(await createPlant(FERN)).toEqual({ name: 'Fern' })
    },
  )

  test.each<[string, TokenFunction, string]>([
    ['fails', () => JSON.parse('down'), 'token_provider_failed'],
    ['gives no token', () => 'two words', 'invalid_token'],
  ])('that %s in the middle of a call leaves open what is', async (_how, give, code) => {
    const token: TokenFunction = (context) => (context.refresh ? give(context) : 'stale')
    const { error } = await run([lose, refused], { token })
    expect(error).toMatchObject({ code, applied: 'maybe', attempts: 2 })
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
