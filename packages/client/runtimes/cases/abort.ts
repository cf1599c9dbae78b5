import { assertEqual, assertTrue, assertWithin } from '../assertions.ts'
import { type Case, type CaseTools, OPEN_AFTER_REFUSAL, type Script } from '../case.ts'
import { watchListeners, watchTimers } from '../leftovers.ts'
import { reply, stored, unavailable } from '../replies.ts'
import { PLANT } from './plants.ts'

/** What "at once" may take on a busy machine. */
const AT_ONCE_MS = 1_000

const REASON = new Error('the caller has left')

type AbortNow = () => void

interface AbortedAt {
  readonly claim: string
  readonly script: Script
  readonly applied: readonly string[]
  readonly requests: number
  readonly differs?: Case['differs']
  /** Starts the call and aborts it by the function given; gives the call. */
  readonly begin: (tools: CaseTools, signal: AbortSignal, abort: AbortNow) => Promise<unknown>
}

async function untilSeen({ seen }: CaseTools): Promise<void> {
  while ((await seen()).length === 0);
}

function abortedAt({ claim, script, applied, requests, differs = {}, begin }: AbortedAt): Case {
  return {
    claim,
    script,
    differs,
    async check(tools) {
      const controller = new AbortController()
      let abortedAtMs = Number.NaN
      const abort = () => {
        abortedAtMs = performance.now()
        controller.abort(REASON)
      }
      const failure = await tools.failureOf(begin(tools, controller.signal, abort))
      assertWithin(performance.now() - abortedAtMs, 0, AT_ONCE_MS, 'time from abort to end')
      assertEqual(failure.code, 'aborted', 'code')
      const allowed = tools.differs ? [...applied, 'maybe'] : applied
      assertTrue(allowed.includes(failure.applied), `applied is ${failure.applied}`)
      assertTrue(failure.cause === REASON, 'the cause is the reason of the signal')
      assertEqual((await tools.seen()).length, requests, 'requests')
    },
  }
}

export const abortCases: readonly Case[] = [
  {
    ...abortedAt({
      claim: 'an abort while waiting to retry ends the call at once',
      script: ({ send }) => send(unavailable('retry-after: 3')),
      applied: ['no'],
      differs: OPEN_AFTER_REFUSAL,
      requests: 1,
      begin({ client }, signal, abort) {
        const onEvent = ({ type }: { type: string }) => {
          if (type === 'retry') setTimeout(abort, 20)
        }
        return client({ onEvent }).createPlant(PLANT, { signal })
      },
    }),
  },
  abortedAt({
    claim: 'an abort while no headers have come ends the call at once',
    script: () => {},
    applied: ['maybe'],
    requests: 1,
    begin(tools, signal, abort) {
      void untilSeen(tools).then(abort)
      return tools.client().createPlant(PLANT, { signal })
    },
  }),
  abortedAt({
    claim: 'an abort in the middle of a body ends the call at once',
    script: ({ send }) => send(`${reply({ framing: 'content-length: 15' })}{"name"`),
    applied: ['maybe', 'yes'],
    requests: 1,
    begin(tools, signal, abort) {
      void untilSeen(tools).then(() => setTimeout(abort, 30))
      return tools.client().createPlant(PLANT, { signal })
    },
  }),
  {
    claim:
      'calls that succeed, fail, time out and are aborted leave no timer and no listener behind',
    isAlone: true,
    script({ request, send, reset }) {
      if (request.body.includes('"id":1,')) send(stored())
      if (request.body.includes('"id":2,')) send(unavailable('retry-after: 3'))
      if (request.body.includes('"id":3,')) reset()
    },
    async check({ client, seen }) {
      const controller = new AbortController()
      const { signal } = controller
      const listeners = watchListeners(signal)
      // The runner starts a timer of its own right after this function is called.
      await seen()
      const timers = watchTimers()
      try {
        const onEvent = ({ type, delayMs = 0 }: { type: string; delayMs?: number }) => {
          if (type === 'retry' && delayMs > 1_000) queueMicrotask(() => controller.abort())
        }
        const create = (id: number, timeoutMs: number) =>
          client({ timeoutMs, maxRetries: 1, onEvent }).tryCreatePlant(
            { id, name: 'Fern' },
            { signal },
          )
        await Promise.all([create(1, 100), create(3, 100), create(4, 100)])
        // Its reply must come in time, on a busy machine too.
        await create(2, 10_000)
        assertTrue(signal.aborted, 'the last call was aborted in its wait')
        assertEqual([timers.count(), listeners.count()], [0, 0], 'timers and listeners left')
      } finally {
        timers.stop()
      }
    },
  },
]
