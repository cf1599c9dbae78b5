import { assertTrue, type Call, type Case, type Ends, makes, type Script } from '../case.ts'
import { OPEN_AFTER_REFUSAL, TAKES_NO_DISPATCHER } from '../differences.ts'
import { proxyPage, response, says, saysLast, unavailable } from '../responses.ts'

type Fetch = typeof globalThis.fetch

const once = (ends: Ends, differs: Ends = {}): Call => ({
  options: { maxRetries: 0 },
  ends,
  differs,
})

/** One call, which says of a plant that is stored that perhaps it is. */
const isOpenAndStored =
  (options: Call['options'] = {}): Case['check'] =>
  async ({ call, seen }) => {
    await call({ options: { maxRetries: 0, ...options }, ends: { applied: 'maybe' } })
    assertTrue(
      (await seen()).some(({ isStored }) => isStored),
      'the plant is stored',
    )
  }

/** Sends again what was lost. */
const sendTwice = (...[input, init]: Parameters<Fetch>): Promise<Response> =>
  fetch(input, init).catch(() => fetch(input, init))

/** The first request is stored, and what follows the first response is a server that is full. */
const storesThen =
  (first: Script): Script =>
  (exchange) => {
    if (exchange.attempt > 1) return exchange.send(unavailable())
    exchange.store()
    return first(exchange)
  }

/** Those of a request that mean nothing to the connection, as lines. */
const ownHeaders = (headers: Readonly<Record<string, unknown>>) =>
  Object.entries(headers).flatMap(([name, value]) =>
    /^(?:x-|user-agent$|accept$)/.test(name) ? `${name}: ${value}` : [],
  )

const echoes = Object.entries<Script>({
  'echoes its requests': ({ request: { headers, body }, send }) =>
    send(response({ headers: ownHeaders(headers), body })),
  'echoes its requests, and breaks off,': (exchange) => {
    const { headers, body } = exchange.request
    const framing = `content-length: ${body.length}`
    const cut = { headers: ownHeaders(headers), framing, body: body.slice(0, -3) }
    saysLast(response(cut))(exchange)
  },
}).map(
  ([what, script]): Case => ({
    claim: `a server that ${what} has stored nothing, and nothing is said to be stored`,
    script,
    check: makes([once({ applied: 'maybe' })]),
  }),
)

/** Makes a call through a dispatcher of the package undici, one that sends again or not. */
const makesThrough =
  (sendsAgain: boolean, check: Case['check']): Case['check'] =>
  async (tools) => {
    if (tools.differs) return
    const undici = await import(tools.undiciUrl ?? '')
    const original = undici.getGlobalDispatcher()
    const agent = new undici.Agent()
    const retries = { methods: ['POST'], maxRetries: 1, minTimeout: 10 }
    undici.setGlobalDispatcher(sendsAgain ? new undici.RetryAgent(agent, retries) : agent)
    try {
      await check(tools)
    } finally {
      undici.setGlobalDispatcher(original)
      await agent.close()
    }
  }

export const sendCases: readonly Case[] = [
  ...echoes,
  {
    claim: 'a fetch of the caller that sends twice proves nothing by its second refusal',
    script: storesThen(({ reset }) => reset()),
    check: isOpenAndStored({ fetch: sendTwice }),
  },
  {
    claim:
      'a server that stores the plant and then says 421 is not believed, nor the refusal after it',
    script: storesThen(says(proxyPage(421))),
    check: isOpenAndStored(),
  },
  {
    claim: 'a dispatcher of Node.js that tries again and is refused has perhaps stored the plant',
    isAlone: true,
    script({ refuse, reset, store }) {
      store()
      refuse()
      reset()
    },
    differs: TAKES_NO_DISPATCHER,
    check: makesThrough(true, async (tools) => {
      await tools.call(
        once({ code: 'connection_failed', reason: 'ECONNREFUSED', applied: 'maybe' }),
      )
      assertTrue((await tools.seen())[0]?.isStored === true, 'the plant is stored')
    }),
  },
  {
    claim: 'a dispatcher of Node.js that sends once leaves a refusal certain',
    isAlone: true,
    script: says(unavailable()),
    differs: TAKES_NO_DISPATCHER,
    check: makesThrough(false, makes([once({ applied: 'no', attempts: 1 })], 1)),
  },
  {
    claim: 'a request that the runtime sends again after a 421 is counted',
    script: says(proxyPage(421)),
    differs: OPEN_AFTER_REFUSAL,
    async check({ call, differs, seen }) {
      const { attempts = 0 } = await call(once({ status: 421 }))
      const { length } = await seen()
      assertTrue(differs ? length >= attempts : length === attempts, `${length} requests`)
    },
  },
  {
    claim: 'a single refusal of the own fetch surely stored nothing',
    script: says(unavailable()),
    differs: OPEN_AFTER_REFUSAL,
    check: makes([once({ applied: 'no' }, { applied: 'maybe' })]),
  },
]
