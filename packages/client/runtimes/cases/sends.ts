import { assertEqual, assertOneOf, assertTrue } from '../assertions.ts'
import type { Case, Exchange, Script } from '../case.ts'
import { proxyPage, reply, unavailable } from '../replies.ts'
import { PLANT } from './plants.ts'

type Fetch = typeof globalThis.fetch

/** The first request is stored and its reply lost; the next finds the server full. */
const storesThenRefuses: Script = ({ attempt, store, reset, send }) => {
  if (attempt > 1) return send(unavailable())
  store()
  reset()
}

/** Sends again what was lost. */
const sendTwice =
  (fetch: Fetch) =>
  async (...[input, init]: Parameters<Fetch>): Promise<Response> => {
    try {
      return await fetch(input, init)
    } catch {
      return await fetch(input, init)
    }
  }

const echoes: readonly [what: string, echo: (exchange: Exchange) => void][] = [
  ['the body of its requests', ({ request, send }) => send(reply({ body: request.body }))],
  [
    'the body and the headers of its requests',
    ({ request, send }) => send(reply({ headers: ownHeaders(request), body: request.body })),
  ],
  [
    'its requests in other words',
    ({ request, send }) => {
      const body = JSON.stringify(JSON.parse(request.body), null, 2)
      send(reply({ headers: ownHeaders(request), body }))
    },
  ],
  [
    'its requests, and breaks off,',
    ({ request, send, end }) => {
      const framing = `content-length: ${request.body.length}`
      send(reply({ headers: ownHeaders(request), framing, body: request.body.slice(0, -3) }))
      end()
    },
  ],
]

/** Those that mean nothing to the connection. */
function ownHeaders({ headers }: Exchange['request']): string[] {
  return Object.entries(headers)
    .filter(([name]) => /^(?:x-|user-agent$|accept$)/.test(name))
    .map(([name, value]) => `${name}: ${value}`)
}

const echoCases = echoes.map(([what, echo]): Case => {
  return {
    claim: `a server that echoes ${what} has stored nothing, and nothing is said to be stored`,
    script: echo,
    async check({ client, failureOf }) {
      const { applied } = await failureOf(client({ maxRetries: 0 }).createPlant(PLANT))
      assertEqual(applied, 'maybe', 'applied')
    },
  }
})

const HIDES_SENDS = 'it tells a page or a program nothing of what it sends'

const NO_DISPATCHER = 'its fetch takes no dispatcher of undici'
const NO_DISPATCHERS = { bun: NO_DISPATCHER, deno: NO_DISPATCHER, browser: NO_DISPATCHER }

/** Sets a dispatcher of the package undici for the time of some work, one that sends again or not. */
async function withDispatcher(
  undiciUrl: string | undefined,
  sendsAgain: boolean,
  work: () => Promise<void>,
): Promise<void> {
  const undici = await import(undiciUrl ?? '')
  const original = undici.getGlobalDispatcher()
  const agent = new undici.Agent()
  const retries = { methods: ['POST'], maxRetries: 1, minTimeout: 10 }
  undici.setGlobalDispatcher(sendsAgain ? new undici.RetryAgent(agent, retries) : agent)
  try {
    await work()
  } finally {
    undici.setGlobalDispatcher(original)
    await agent.close()
  }
}

export const sendCases: readonly Case[] = [
  {
    claim: 'a fetch of the caller that sends twice proves nothing by its second refusal',
    script: storesThenRefuses,
    async check({ client, failureOf, isStored }) {
      const fetch = sendTwice(globalThis.fetch) as Fetch
      const { applied } = await failureOf(client({ fetch, maxRetries: 0 }).createPlant(PLANT))
      assertEqual([applied, await isStored()], ['maybe', true], 'applied and stored')
    },
  },
  {
    claim: 'a dispatcher of Node.js that tries again and is refused has perhaps stored the plant',
    isAlone: true,
    script({ refuse, reset, store }) {
      store()
      refuse()
      reset()
    },
    differs: NO_DISPATCHERS,
    async check({ client, differs, failureOf, isStored, undiciUrl }) {
      if (differs) return
      await withDispatcher(undiciUrl, true, async () => {
        const failure = await failureOf(client({ maxRetries: 0 }).createPlant(PLANT))
        assertEqual([failure.code, failure.reason], ['connection_failed', 'ECONNREFUSED'], 'error')
        assertEqual([failure.applied, await isStored()], ['maybe', true], 'applied and stored')
      })
    },
  },
  {
    claim: 'a dispatcher of Node.js that sends once leaves a refusal certain',
    isAlone: true,
    script: ({ send }) => send(unavailable()),
    differs: NO_DISPATCHERS,
    async check({ client, differs, failureOf, undiciUrl }) {
      if (differs) return
      await withDispatcher(undiciUrl, false, async () => {
        const { applied, attempts } = await failureOf(client({ maxRetries: 0 }).createPlant(PLANT))
        assertEqual([applied, attempts], ['no', 1], 'applied and attempts')
      })
    },
  },
  {
    claim:
      'a server that stores the plant and then says 421 is not believed, nor the refusal after it',
    script: ({ attempt, store, send }) => {
      if (attempt === 1) store()
      send(attempt === 1 ? proxyPage(421) : unavailable())
    },
    async check({ client, failureOf, isStored }) {
      const { applied } = await failureOf(client({ maxRetries: 0 }).createPlant(PLANT))
      assertEqual([applied, await isStored()], ['maybe', true], 'applied and stored')
    },
  },
  {
    claim: 'a request that the runtime sends again after a 421 is counted',
    script: ({ send }) => send(proxyPage(421)),
    differs: { deno: HIDES_SENDS, browser: HIDES_SENDS },
    async check({ client, differs, failureOf, seen }) {
      const { attempts, status } = await failureOf(client({ maxRetries: 0 }).createPlant(PLANT))
      assertEqual(status, 421, 'status')
      const { length } = await seen()
      assertTrue(differs ? length >= attempts : length === attempts, `${length} requests`)
    },
  },
  {
    claim: 'a single refusal of the own fetch surely stored nothing',
    script: ({ send }) => send(unavailable()),
    differs: { deno: HIDES_SENDS, browser: HIDES_SENDS },
    async check({ client, differs, failureOf }) {
      const { applied } = await failureOf(client({ maxRetries: 0 }).createPlant(PLANT))
      assertOneOf(applied, differs ? ['maybe'] : ['no'], 'applied')
    },
  },
  ...echoCases,
]
