import { assertEqual, assertTrue, assertWithin } from '../assertions.ts'
import type { Case, CaseTools, SeenRequest } from '../case.ts'
import { refused, stored, unavailable } from '../replies.ts'
import { PLANT } from './plants.ts'

/** What a busy machine may add to a wait. */
const SLACK_MS = 900

function gapMs([first, second]: readonly SeenRequest[]): number {
  assertTrue(first !== undefined && second !== undefined, 'there are two requests')
  return second.atMs - first.atMs
}

const seconds: Case = {
  claim: 'a 429 with Retry-After is retried no sooner than that',
  isClassic: true,
  script: ({ attempt, send }) =>
    send(attempt === 1 ? refused(42900, 'too many', ['retry-after: 1']) : stored()),
  async check({ client, seen }) {
    assertEqual(await client().createPlant(PLANT), { name: 'Fern' }, 'the plant')
    assertWithin(gapMs(await seen()), 999, 1_100 + SLACK_MS, 'time between the attempts')
  },
}

/** Dates have whole seconds, so that two of them ahead are between one and two away. */
const DATE_AHEAD_MS = 2_000

const date: Case = {
  claim: 'Retry-After as a date is kept to',
  script({ attempt, send }) {
    const at = new Date(Date.now() + DATE_AHEAD_MS).toUTCString()
    send(attempt === 1 ? unavailable(`retry-after: ${at}`, `x-request-id: a`) : stored())
  },
  async check({ client, seen }) {
    const begin = Date.now()
    assertEqual(await client().createPlant(PLANT), { name: 'Fern' }, 'the plant')
    const earliest = Math.floor((begin + DATE_AHEAD_MS) / 1_000) * 1_000
    assertTrue(Date.now() >= earliest, 'the second attempt is not before the date')
    assertWithin(gapMs(await seen()), 0, 1.1 * DATE_AHEAD_MS + SLACK_MS, 'time between attempts')
  },
}

const NONSENSE = ['-5', 'soon', '1.5.2', 'NaN', '', 'Thu, 01 Jan 1970 00:00:00 GMT', '0x10']

async function failsAtOnce({ client, failureOf, seen }: CaseTools): Promise<number | undefined> {
  const begin = performance.now()
  const failure = await failureOf(client().createPlant(PLANT))
  assertWithin(performance.now() - begin, 0, 900, 'time until it fails')
  assertEqual([failure.status, failure.attempts], [503, 1], 'the error')
  assertEqual((await seen()).length, 1, 'requests')
  return failure.retryAfterMs
}

/** Timers of every runtime take 31 bits of ms; a longer one fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

export const retryAfterCases: readonly Case[] = [
  seconds,
  date,
  {
    claim: 'Retry-After that is negative, past or no time at all is as if it were absent',
    script({ attempt, send }) {
      const value = NONSENSE[attempt - 1]
      send(value === undefined ? stored() : unavailable(`retry-after: ${value}`))
    },
    async check({ client, seen }) {
      const options = { maxRetries: 1, totalTimeoutMs: 2_000 }
      for (let count = 0; count < Math.ceil((NONSENSE.length + 1) / 2); count++) {
        const begin = performance.now()
        await client(options).tryCreatePlant(PLANT)
        // The longest first wait is 250 ms.
        assertWithin(performance.now() - begin, 0, 250 + SLACK_MS, `call ${count}`)
      }
      assertEqual((await seen()).length, NONSENSE.length + 1, 'requests')
    },
  },
  {
    claim: 'a Retry-After of a day fails at once and names the wait',
    isClassic: true,
    script: ({ send }) => send(unavailable('retry-after: 86400')),
    async check(tools) {
      assertEqual(await failsAtOnce(tools), 86_400_000, 'retryAfterMs')
    },
  },
  {
    claim: 'a Retry-After of four hundred digits is not waited for',
    script: ({ send }) => send(unavailable(`retry-after: ${'9'.repeat(400)}`)),
    async check({ client, seen }) {
      const result = await client({ maxRetries: 1 }).tryCreatePlant(PLANT)
      assertTrue(!result.ok, 'the call fails')
      assertTrue((await seen()).length <= 2, 'at most two requests')
    },
  },
  {
    claim: 'a wait beyond what a timer can hold does not become no wait',
    script: ({ send }) => send(unavailable(`retry-after: ${Math.floor(LONGEST_TIMER_MS / 1_000)}`)),
    async check({ client, seen }) {
      const controller = new AbortController()
      const { signal } = controller
      const limits = { maxRetryAfterMs: LONGEST_TIMER_MS, totalTimeoutMs: Number.POSITIVE_INFINITY }
      const call = client(limits).tryCreatePlant(PLANT, { signal })
      await Promise.race([call, new Promise((resolve) => setTimeout(resolve, 200))])
      controller.abort()
      await call
      assertEqual((await seen()).length, 1, 'requests')
    },
  },
  {
    claim: 'a timeout beyond what a timer can hold is refused or kept, and never becomes no time',
    script: async ({ send, pause }) => {
      await pause(40)
      send(stored())
    },
    async check({ client, library }) {
      for (const timeoutMs of [LONGEST_TIMER_MS, 2 ** 31, 1e15, Number.POSITIVE_INFINITY]) {
        try {
          const { createPlant } = client({ timeoutMs, totalTimeoutMs: timeoutMs, maxRetries: 0 })
          assertEqual(await createPlant(PLANT), { name: 'Fern' }, `the plant with ${timeoutMs}`)
        } catch (error) {
          if (!(error instanceof library.PlantStoreError)) throw error
        }
      }
    },
  },
]
