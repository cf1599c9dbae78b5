import { assertEqual, assertOneOf, assertTrue } from '../assertions.ts'
import type { Case, Exchange } from '../case.ts'
import { reply, STORED_BODY, stored, unavailable } from '../replies.ts'
import { PLANT } from './plants.ts'

const OPAQUE = 'a page cannot see why a request failed, so it cannot know that nothing was sent'

const LOST_CODES = ['connection_lost', 'connection_failed']

/** Replies and ends the connection, so that the next request comes on a fresh one. */
function replyLast({ send, end }: Exchange, bytes: (headers: readonly string[]) => string): void {
  send(bytes(['connection: close', 'retry-after: 0']))
  end()
}

/** The first attempt is lost, the next is answered; alone, the first leaves the outcome open. */
function firstIsLost(claim: string, lose: (exchange: Exchange) => void): Case {
  return {
    claim,
    script: (exchange) =>
      exchange.attempt % 2 === 1 ? lose(exchange) : replyLast(exchange, stored),
    async check({ client, failureOf, seen }) {
      assertEqual(await client().createPlant(PLANT), { name: 'Fern' }, 'the plant')
      const failure = await failureOf(client({ maxRetries: 0 }).createPlant(PLANT))
      assertOneOf(failure.code, LOST_CODES, 'code')
      assertOneOf(failure.applied, ['maybe', 'yes'], 'applied')
      assertTrue(failure.retryable, 'the error says that another try may help')
      assertEqual((await seen()).length, 3, 'requests')
    },
  }
}

const CUT = reply({ framing: 'content-length: 15' }) + STORED_BODY.slice(0, 7)

const CUT_CHUNKS = `${reply({ framing: 'transfer-encoding: chunked' })}f\r\n${STORED_BODY}\r\n`

const lost: readonly Case[] = [
  {
    ...firstIsLost('a reset instead of a reply is retried', ({ reset }) => reset()),
  },
  firstIsLost('an end of the connection instead of a reply is retried', ({ end }) => end()),
  firstIsLost('a reset in the middle of the headers is retried', async (exchange) => {
    exchange.send('HTTP/1.1 200 OK\r\ncontent-le')
    await exchange.pause(10)
    exchange.reset()
  }),
  {
    ...firstIsLost('a body cut short is retried', ({ send, end }) => {
      send(CUT)
      end()
    }),
  },
  firstIsLost('a body cut by a reset is retried', async ({ send, pause, reset }) => {
    send(CUT)
    await pause(10)
    reset()
  }),
]

/** A runtime may send again by itself; what the first of its requests did is then not known. */
function keptBreaks(claim: string, part: (exchange: Exchange) => void): Case {
  return {
    claim,
    script(exchange) {
      if (exchange.attempt === 1) exchange.send(stored())
      else if (exchange.attempt === 2) part(exchange)
      else exchange.send(unavailable())
    },
    async check({ client, failureOf }) {
      const { createPlant } = client({ maxRetries: 0 })
      await createPlant(PLANT)
      assertEqual((await failureOf(createPlant(PLANT))).applied, 'maybe', 'applied')
    },
  }
}

const RESENDS = 'when a kept connection breaks, the runtime silently sends again by itself'

export const connectionCases: readonly Case[] = [
  ...lost,
  {
    claim: 'a chunked body without its last chunk is never taken for a failure that stored nothing',
    script({ send, end }) {
      send(CUT_CHUNKS)
      end()
    },
    async check({ client }) {
      const result = await client({ maxRetries: 0 }).tryCreatePlant(PLANT)
      // Some runtimes take the end of the connection for the end of the body, which is whole here.
      if (result.ok) assertEqual(result.plant, { name: 'Fern' }, 'the plant')
      else assertOneOf(result.error.applied, ['maybe', 'yes'], 'applied')
    },
  },
  {
    claim: 'a refused connection surely stored nothing',
    script: () => {},
    differs: { browser: OPAQUE },
    async check({ client, differs, failureOf, refusedUrl }) {
      const call = client({ baseUrl: refusedUrl, maxRetries: 1 }).createPlant(PLANT)
      const { applied, attempts, code } = await failureOf(call)
      assertEqual(attempts, 2, 'attempts')
      assertEqual(applied, differs ? 'maybe' : 'no', 'applied')
      assertOneOf(code, differs ? LOST_CODES : ['connection_failed'], 'code')
    },
  },
  {
    claim: 'a connection that is reset before any byte is retried',
    refusesConnection: true,
    script: ({ send }) => send(stored()),
    async check({ client, seen }) {
      assertEqual(await client().createPlant(PLANT), { name: 'Fern' }, 'the plant')
      assertEqual((await seen()).length, 1, 'requests')
    },
  },
  {
    claim: 'a kept connection that the server closes under the next request does not fail the call',
    script({ attempt, send, reset }) {
      if (attempt % 2 === 0) reset()
      else send(stored())
    },
    async check({ client, seen }) {
      const { createPlant } = client()
      await createPlant(PLANT)
      assertEqual(await createPlant(PLANT), { name: 'Fern' }, 'the plant')
      assertEqual((await seen()).length, 3, 'requests')
    },
  },
  keptBreaks('a kept connection that is reset leaves the outcome open', ({ reset }) => reset()),
  keptBreaks('a kept connection that ends leaves the outcome open', ({ end }) => end()),
  {
    claim: 'zero retries means one request, whatever happens',
    differs: { browser: RESENDS, deno: RESENDS },
    script(exchange) {
      const { request, reset, send, end } = exchange
      const { id } = JSON.parse(request.body) as { id: number }
      if (id === 1) reset()
      if (id === 2) replyLast(exchange, (headers) => unavailable(...headers))
      if (id === 3) end()
      if (id === 4) send(CUT)
      if (id === 4) end()
    },
    async check({ client, failureOf, seen }) {
      const { createPlant } = client({ maxRetries: 0, timeoutMs: 200 })
      for (const id of [1, 2, 3, 4, 5]) {
        const { attempts } = await failureOf(createPlant({ id, name: 'Fern' }))
        assertEqual(attempts, 1, `attempts for ${id}`)
      }
      assertEqual((await seen()).length, 5, 'requests')
    },
  },
]
