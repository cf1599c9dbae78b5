import { assertTrue, type Call, type Case, type Ends, makes, type Run } from '../case.ts'
import { OPEN_AFTER_REFUSAL, TAKES_NO_DISPATCHER } from '../differences.ts'
import { type Script, says, saysLast } from '../exchange.ts'
import { proxyPage, response, unavailable } from '../responses.ts'

const once = (ends: Ends, differs: Ends = {}): Call => ({
  options: { maxRetries: 0 },
  ends,
  differs,
})

/** One call, which says of a plant that is stored that perhaps it is. */
async function isOpenAndStored(run: Run, ends: Ends = {}): Promise<void> {
  await run.call(once({ applied: 'maybe', ...ends }))
  assertTrue(await run.isStored(), 'the plant is stored')
}

/** A server that sends back what it got, with the headers that mean nothing to the connection. */
const echoes =
  (missing: number): Script =>
  (exchange) => {
    const { headers, body } = exchange.request
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
    const own = lines.filter((line) => /^(?:x-|user-agent:|accept:)/.test(line))
    const framing = `content-length: ${body.length}`
    const cut = body.slice(0, body.length - missing)
    saysLast(response({ headers: own, framing, body: cut }))(exchange)
  }

/** Makes calls through a dispatcher of the package undici, one that sends again or not. */
const makesThrough =
  (sendsAgain: boolean, check: Case['check']): Case['check'] =>
  async (run) => {
    if (run.setup.differs) return
    const undici = await import(run.setup.undiciUrl ?? '')
    const original = undici.getGlobalDispatcher()
    const agent = new undici.Agent()
    const retries = { methods: ['POST'], maxRetries: 1, minTimeout: 10 }
    undici.setGlobalDispatcher(sendsAgain ? new undici.RetryAgent(agent, retries) : agent)
    try {
      await check(run)
    } finally {
      undici.setGlobalDispatcher(original)
      await agent.close()
    }
  }

export const sendCases: readonly Case[] = [
  ...[0, 3].map((missing) => ({
    claim: `a server that echoes all but ${missing} bytes is not said to have stored anything`,
    script: echoes(missing),
    check: makes([once({ applied: 'maybe' })]),
  })),
  {
    claim:
      'a server that stores the plant and then says 421 is not believed, nor the refusal after it',
    script({ attempt, send, store }) {
      if (attempt === 1) store()
      send(attempt === 1 ? proxyPage(421) : unavailable())
    },
    check: (run) => isOpenAndStored(run),
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
    check: makesThrough(true, (run) =>
      isOpenAndStored(run, { code: 'connection_failed', reason: 'ECONNREFUSED' }),
    ),
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
    async check(run) {
      const { attempts } = await run.call(once({ status: 421 }))
      const { length } = await run.setup.seen()
      assertTrue(run.setup.differs ? length >= attempts : length === attempts, `${length} requests`)
    },
  },
  {
    claim: 'a single refusal of the own fetch surely stored nothing',
    script: says(unavailable()),
    differs: OPEN_AFTER_REFUSAL,
    check: makes([once({ applied: 'no' }, { applied: 'maybe' })], 1),
  },
]
