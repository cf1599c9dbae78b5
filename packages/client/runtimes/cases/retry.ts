import { assertEqual, assertTrue } from '../assertions.ts'
import { type Case, OPEN_AFTER_REFUSAL } from '../case.ts'
import { refused, reply, stored, unavailable } from '../replies.ts'
import { PLANT, PLANT_BODY } from './plants.ts'

const RETRIED = [408, 425, 429, 500, 502, 503, 504]
const NOT_RETRIED = [400, 401, 403, 404, 405, 409, 413, 415, 417, 418, 422, 431, 451, 501, 505]

const statuses: Case = {
  claim: 'exactly the statuses that may pass are retried',
  script({ request, send }) {
    const { id } = JSON.parse(request.body) as { id: number }
    send(refused(id * 100, 'no', ['retry-after: 0']))
  },
  differs: {
    browser: 'a browser sends a request again by itself after a 408 on a kept connection',
  },
  async check({ client, differs, failureOf, seen }) {
    const { createPlant } = client({ maxRetries: 1 })
    const failures = [...RETRIED, ...NOT_RETRIED].map(async (id) => {
      const { attempts, status } = await failureOf(createPlant({ id, name: 'Fern' }))
      const expected = RETRIED.includes(id) ? 2 : 1
      assertEqual([status, attempts], [id, expected], `status and attempts for ${id}`)
    })
    await Promise.all(failures)
    const least = 2 * RETRIED.length + NOT_RETRIED.length
    const requests = (await seen()).length
    assertTrue(differs ? requests >= least : requests === least, `${requests} requests`)
  },
}

export const retryCases: readonly Case[] = [
  {
    claim: 'a 503 is retried until the plant is stored',
    isClassic: true,
    script: ({ attempt, send }) => send(attempt < 3 ? unavailable('retry-after: 0') : stored()),
    async check({ client, seen }) {
      const result = await client().tryCreatePlant(PLANT)
      assertTrue(result.ok, 'the call succeeds')
      assertEqual(result.plant, { name: 'Fern' }, 'the plant')
      assertEqual([result.meta.attempts, result.meta.status], [3, 200], 'meta')
      assertEqual((await seen()).length, 3, 'requests')
    },
  },
  {
    claim: 'a 503 without end is given up after the retries allowed',
    script: ({ send }) => send(unavailable('retry-after: 0')),
    differs: OPEN_AFTER_REFUSAL,
    async check({ client, differs, failureOf, seen }) {
      const failure = await failureOf(client({ maxRetries: 2 }).createPlant(PLANT))
      const { attempts, applied, code, status, retryable } = failure
      const expected = [3, differs ? 'maybe' : 'no', 503, true]
      assertEqual([attempts, applied, status, retryable], expected, 'the error')
      assertEqual(code, 'server_error', 'code')
      assertEqual((await seen()).length, 3, 'requests')
    },
  },
  statuses,
  {
    claim: 'every attempt sends the same bytes, even if the caller changes the plant meanwhile',
    script: ({ attempt, send }) => send(attempt < 3 ? unavailable('retry-after: 0') : stored()),
    async check({ client, seen }) {
      const plant = { ...PLANT }
      const onEvent = () => {
        plant.name = 'Moss'
      }
      const call = client({ onEvent }).createPlant(plant)
      plant.name = 'Ivy'
      await call
      const bodies = (await seen()).map(({ body }) => body)
      assertEqual(bodies, [PLANT_BODY, PLANT_BODY, PLANT_BODY], 'bodies')
    },
  },
  {
    claim: 'an event listener that throws changes nothing',
    script: ({ attempt, send }) => send(attempt < 2 ? unavailable('retry-after: 0') : stored()),
    async check({ client }) {
      const onEvent = () => {
        throw new Error('the listener is broken')
      }
      assertEqual(await client({ onEvent }).createPlant(PLANT), { name: 'Fern' }, 'the plant')
    },
  },
  {
    claim: 'tryCreatePlant gives every failure as a value',
    script({ attempt, send, reset }) {
      if (attempt === 1) reset()
      if (attempt === 2) send(refused(40002, 'no'))
      if (attempt === 3) send(reply({ body: 'tea' }))
    },
    async check({ client }) {
      const { tryCreatePlant } = client({ maxRetries: 0, timeoutMs: 1_000 })
      const codes: string[] = []
      for (let count = 0; count < 4; count++) {
        const result = await tryCreatePlant(PLANT)
        assertTrue(!result.ok, 'the call fails')
        codes.push(result.error.code)
      }
      assertEqual(
        codes.slice(1),
        ['invalid_plant', 'unexpected_response', 'attempt_timeout'],
        'codes',
      )
    },
  },
  {
    claim: 'the client of ts-rest gives a refusal as a value and refuses what is no reply',
    script({ attempt, send }) {
      if (attempt === 1) send(refused(40003, 'taken'))
      if (attempt === 2) send(stored())
      if (attempt === 3) send(reply({ body: '<html>', type: 'text/html' }))
    },
    async check({ rest, failureOf }) {
      const { createPlant } = rest({ maxRetries: 0 })
      const taken = await createPlant({ body: PLANT })
      assertEqual([taken.status, taken.body], [400, { error: 40003, message: 'taken' }], 'refusal')
      const created = await createPlant({ body: PLANT })
      assertEqual([created.status, created.body], [200, { name: 'Fern' }], 'reply')
      const failure = await failureOf(createPlant({ body: PLANT }))
      assertEqual(failure.code, 'unexpected_response', 'code')
    },
  },
]
