import { describe, expect, test } from 'vitest'
import { createPlantStoreClient, type TokenFunction } from '../src/index.ts'
import { createFakeFetch, type FakeReply, fetchFailed, replyFern, replyJson } from './fake-fetch.ts'

type TokenContext = Parameters<TokenFunction>[0]

const FERN = { id: 7, name: 'Fern' }
const refused = () => replyJson(401, { error: 40101, message: 'no' })
const takeOnly =
  (token: string): FakeReply =>
  ({ headers }) =>
    headers.authorization === `Bearer ${token}` ? replyFern() : refused()

function createClient(token: TokenFunction, reply: FakeReply, maxRetries = 3) {
  const { fetch, sent } = createFakeFetch(reply)
  const options = { baseUrl: 'http://127.0.0.1:3000', token, fetch, maxRetries }
  return { ...createPlantStoreClient(options), sent }
}

/** A token function that notes each `refresh`. */
function notingToken() {
  const refreshes: boolean[] = []
  const token = async ({ refresh }: TokenContext) => {
    refreshes.push(refresh)
    return refresh ? 'fresh' : 'stale'
  }
  return { refreshes, token }
}

describe('a token function', () => {
  test('is asked once for a call, however many attempts it takes', async () => {
    const { refreshes, token } = notingToken()
    const replies = [() => Promise.reject(fetchFailed('ECONNRESET')), replyFern]
    const client = createClient(token, (_, attempt) => replies[attempt - 1]?.() as Response)
    await client.createPlant(FERN)
    expect([refreshes, client.sent.length]).toEqual([[false], 2])
  })

  test('is asked for a fresh one when the server refuses it, once in a call', async () => {
    const { refreshes, token } = notingToken()
    const client = createClient(token, takeOnly('fresh'))
    await client.createPlant(FERN)
    expect([refreshes, client.sent.length]).toEqual([[false, true], 2])
    const hopeless = createClient(token, refused)
    const { ok, meta } = await hopeless.tryCreatePlant(FERN)
    expect([ok, meta.attempts]).toEqual([false, 2])
  })

  test('gets the refusal in the next call where one without retries may not ask again', async () => {
    const { refreshes, token } = notingToken()
    const { sent, tryCreatePlant } = createClient(token, takeOnly('fresh'), 0)
    expect((await tryCreatePlant(FERN)).ok).toBe(false)
    expect(sent).toHaveLength(1)
    expect((await tryCreatePlant(FERN)).ok).toBe(true)
    expect((await tryCreatePlant(FERN)).ok).toBe(false)
    expect(refreshes).toEqual([false, true, false])
  })

  test('is asked once for calls at the same time, to refresh as well', async () => {
    const { refreshes, token } = notingToken()
    const { createPlant } = createClient(token, takeOnly('fresh'))
    await Promise.all([1, 2, 3, 4].map((id) => createPlant({ id, name: 'Fern' })))
    expect(refreshes).toEqual([false, true])
  })

  test('is not asked to refresh what another call has had refreshed', async () => {
    const { refreshes, token } = notingToken()
    let open = () => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    const reply: FakeReply = async (request, attempt) => {
      if (attempt === 1) await gate
      return takeOnly('fresh')(request, attempt)
    }
    const { createPlant } = createClient(async (context) => {
      await token(context)
      return refreshes.includes(true) ? 'fresh' : 'stale'
    }, reply)
    const slow = createPlant({ id: 1, name: 'Fern' })
    await createPlant({ id: 2, name: 'Fern' })
    open()
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
    const client = createClient(token, (request, attempt) => {
      if (attempt === 1) late = client.tryCreatePlant({ id: 2, name: 'Fern' })
      return takeOnly('fresh')(request, attempt)
    })
    expect((await client.tryCreatePlant(FERN)).ok).toBe(true)
    open.resolve('fresh')
    expect(await late).toMatchObject({ ok: true })
  })

  test('goes on for those who still wait, and its signal is aborted when none does', async () => {
    const asked: TokenContext[] = []
    const { tryCreatePlant } = createClient((context) => {
      asked.push(context)
      return new Promise(() => {})
    }, replyFern)
    const first = new AbortController()
    const second = new AbortController()
    const calls = [first, second].map(({ signal }) => tryCreatePlant(FERN, { signal }))
    await new Promise(setImmediate)
    first.abort()
    expect(await calls[0]).toMatchObject({ ok: false, error: { code: 'aborted', attempts: 0 } })
    expect(asked.map(({ signal }) => signal.aborted)).toEqual([false])
    second.abort()
    await calls[1]
    expect(asked.map(({ signal }) => signal.aborted)).toEqual([true])
    const third = new AbortController()
    const last = tryCreatePlant(FERN, { signal: third.signal })
    await new Promise(setImmediate)
    expect(asked).toHaveLength(2)
    third.abort()
    await last
  })

  test('keeps its signal unaborted once it has given a token', async () => {
    const asked: TokenContext[] = []
    const { createPlant } = createClient((context) => {
      asked.push(context)
      return 'token'
    }, replyFern)
    await createPlant(FERN)
    expect(asked.map(({ signal }) => signal.aborted)).toEqual([false])
  })

  test.each([
    ['closed', 'no Error'],
    [undefined, 'no Error'],
    [Object.assign(new Error('closed'), { name: 'no name' }), 'no Error'],
    [Object.assign(new Error('closed'), { name: 'VaultError' }), 'VaultError'],
  ])('that throws %o is named as one that threw %s', async (thrown, kind) => {
    const { createPlant } = createClient(() => Promise.reject(thrown), replyFern)
    await expect(createPlant(FERN)).rejects.toThrow(`its function threw ${kind}`)
  })

  test('is asked anew after it failed', async () => {
    let asked = 0
    const { tryCreatePlant } = createClient(() => {
      if (++asked === 1) throw new Error('the vault is closed')
      return 'token'
    }, replyFern)
    expect(await tryCreatePlant(FERN)).toMatchObject({
      ok: false,
      error: { name: 'PlantStoreError', code: 'token_provider_failed', applied: 'no' },
      meta: { attempts: 0 },
    })
    expect((await tryCreatePlant(FERN)).ok).toBe(true)
  })

  test.each<[string, TokenFunction, string]>([
    ['fails', () => Promise.reject(new Error('down')), 'token_provider_failed'],
    ['gives no token', () => 'two words', 'invalid_token'],
  ])(
    'that %s gives each call that waits for it the facts of that call alone',
    async (_how, give, code) => {
      const replies = [() => Promise.reject(fetchFailed('ECONNRESET')), refused]
      const asked = Promise.withResolvers<void>()
      const goOn = Promise.withResolvers<void>()
      const token: TokenFunction = async (context) => {
        if (!context.refresh) return 'stale'
        asked.resolve()
        await goOn.promise
        return give(context)
      }
      const client = createClient(token, (_, attempt) => replies[attempt - 1]?.() as Response)
      const first = client.tryCreatePlant(FERN)
      await asked.promise
      const second = client.tryCreatePlant(FERN)
      goOn.resolve()
      const [one, other] = await Promise.all([first, second])
      if (one.ok || other.ok) throw new Error('it was stored')
      expect(one.error).toMatchObject({ code, applied: 'maybe', attempts: 2 })
      expect(other.error).toMatchObject({ code, applied: 'no', attempts: 0 })
      expect([one.error.requestId, other.error.requestId]).toEqual([one.meta.requestId, undefined])
    },
  )

  test.each([undefined, null, 5, '', '  '])('that gives %o sends nothing', async (given) => {
    const { sent, tryCreatePlant } = createClient((() => given) as () => string, replyFern)
    expect(await tryCreatePlant(FERN)).toMatchObject({
      ok: false,
      error: { code: 'invalid_token' },
    })
    expect(sent).toEqual([])
  })
})

test('a token that is given as text is refused but once', async () => {
  const { fetch, sent } = createFakeFetch(refused)
  const client = createPlantStoreClient({ baseUrl: 'http://127.0.0.1:3000', token: 'old', fetch })
  await expect(client.createPlant(FERN)).rejects.toMatchObject({ code: 'unauthorized' })
  expect(sent).toHaveLength(1)
})

test('white space around a token is left out', async () => {
  for (const token of [' abc\r\n', () => 'abc\n']) {
    const { fetch, sent } = createFakeFetch(replyFern)
    const client = createPlantStoreClient({ baseUrl: 'http://127.0.0.1:3000', token, fetch })
    await client.createPlant(FERN)
    expect(sent[0]?.headers.authorization).toBe('Bearer abc')
  }
})
