import { expect } from 'vitest'
import { type Case, once } from '../case.ts'
import { OPEN_AFTER_REFUSAL, TAKES_NO_DISPATCHER } from '../differences.ts'
import { inTurn, type Script, says } from '../exchange.ts'
import { proxyPage, unavailable } from '../responses.ts'

const storesAnd =
  (then: Script): Script =>
  (exchange) => {
    exchange.store()
    then(exchange)
  }

const check: Case['check'] = (_facts, seen) => {
  expect(seen[0]).toMatchObject({ isStored: true })
}

export const sendCases: readonly Case[] = [
  {
    claim:
      'a server that stores the plant and then says 421 is not believed, nor the refusal after it',
    script: inTurn(storesAnd(says(proxyPage(421))), says(unavailable())),
    calls: [once({ applied: 'maybe' })],
    check,
  },
  {
    claim: 'a dispatcher of Node.js that tries again and is refused has perhaps stored the plant',
    script: storesAnd(({ refuse, reset }) => {
      refuse()
      reset()
    }),
    calls: [
      once(
        { code: 'connection_failed', reason: 'ECONNREFUSED', applied: 'maybe' },
        { dispatcher: 'RetryAgent' },
      ),
    ],
    check,
    cannot: TAKES_NO_DISPATCHER,
  },
  {
    claim: 'a dispatcher of Node.js that sends once leaves a refusal certain',
    script: says(unavailable()),
    calls: [once({ applied: 'no', attempts: 1 }, { dispatcher: 'Agent' })],
    requests: 1,
    cannot: TAKES_NO_DISPATCHER,
  },
  {
    claim: 'a request that the runtime sends again after a 421 is counted',
    script: says(proxyPage(421)),
    calls: [once({ status: 421 })],
    check([facts], { length }, differs) {
      if (differs) expect(length).toBeGreaterThanOrEqual(Number(facts?.attempts))
      else expect(length).toBe(facts?.attempts)
    },
    differs: OPEN_AFTER_REFUSAL,
  },
  {
    claim: 'a single refusal of the own fetch surely stored nothing',
    script: says(unavailable()),
    calls: [once({ applied: 'no' }, { differs: { applied: 'maybe' } })],
    requests: 1,
    differs: OPEN_AFTER_REFUSAL,
  },
]
