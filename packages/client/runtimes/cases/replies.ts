import { assertEqual, assertOneOf, assertTrue } from '../assertions.ts'
import { type Case, OPEN_AFTER_REFUSAL } from '../case.ts'
import { proxyPage, refused, reply, stored } from '../replies.ts'
import { PLANT } from './plants.ts'

/** A reply with status 200 that is no Plant: asking again would not help. */
function notAPlant(claim: string, bytes: string): Case {
  return {
    claim,
    script: ({ send }) => send(bytes),
    async check({ client, failureOf, library, seen }) {
      const failure = await failureOf(client().createPlant(PLANT))
      assertTrue(failure instanceof library.PlantStoreError, `it is ${failure.name}`)
      assertEqual([failure.code, failure.status], ['unexpected_response', 200], 'the error')
      assertOneOf(failure.applied, ['maybe', 'yes'], 'applied')
      assertEqual((await seen()).length, 1, 'requests')
    },
  }
}

/** Whether a create was stored, by the number of the Error that replies it. */
const APPLIED: Readonly<Record<number, readonly string[]>> = {
  40000: ['no'],
  40002: ['no'],
  40003: ['no'],
  40101: ['no'],
  40400: ['no'],
  41300: ['no'],
  41500: ['no'],
  42900: ['no'],
  50000: ['no', 'maybe'],
  50001: ['maybe'],
  50099: ['maybe'],
  50300: ['no'],
}

export const replyCases: readonly Case[] = [
  {
    ...notAPlant('a 200 of the wrong shape is refused', reply({ body: '{"name":5}' })),
    isClassic: true,
  },
  {
    ...notAPlant("a proxy's page with status 200 is refused", proxyPage(200, 'Sign in')),
    isClassic: true,
  },
  {
    ...notAPlant('a 200 with broken JSON is refused', reply({ body: '{"name":"Fern"' })),
    isClassic: true,
  },
  notAPlant('a 200 with an empty body is refused', reply()),
  notAPlant('a 200 with JSON null is refused', reply({ body: 'null' })),
  notAPlant('a 200 with a hundred thousand brackets is refused', reply({ body: '['.repeat(1e5) })),
  notAPlant('a 200 with a lone surrogate is refused', reply({ body: '{"name":"\\ud800"}' })),
  {
    claim: 'a page with status 200 that may not be from the service does not prove that it stored',
    script: ({ send }) => send(proxyPage(200, 'Sign in to this network')),
    async check({ client, failureOf }) {
      assertEqual((await failureOf(client().createPlant(PLANT))).applied, 'maybe', 'applied')
    },
  },
  {
    claim: 'a page with status 200 that repeats the id of the request proves nothing either',
    script({ request, send }) {
      const headers = [`x-request-id: ${request.headers['x-request-id']}`]
      send(reply({ type: 'text/html', headers, body: '<h1>Sign in</h1>' }))
    },
    async check({ client, failureOf }) {
      assertEqual((await failureOf(client().createPlant(PLANT))).applied, 'maybe', 'applied')
    },
  },
  {
    claim: 'a 200 of the service itself says that the plant is stored, even if its body is broken',
    script({ request, send }) {
      const headers = [`x-request-id: ${request.headers['x-request-id']}`]
      send(reply({ headers, body: '{"name":' }))
    },
    async check({ client, failureOf }) {
      assertEqual((await failureOf(client().createPlant(PLANT))).applied, 'yes', 'applied')
    },
  },
  {
    claim: 'members that the contract does not know are left out of the plant',
    script: ({ send }) => send(reply({ body: '{"name":"Fern","__proto__":{"a":1},"b":[]}' })),
    async check({ client }) {
      const plant = await client().createPlant(PLANT)
      assertEqual(plant, { name: 'Fern' }, 'the plant')
      assertEqual('a' in plant, false, 'a member of the prototype')
    },
  },
  {
    claim: 'a 2xx other than 200 is unexpected and leaves the outcome open',
    script({ request, send }) {
      const { id } = JSON.parse(request.body) as { id: number }
      send(reply({ status: id, framing: id === 204 ? null : 'content-length: 0' }))
    },
    async check({ client, failureOf, seen }) {
      for (const id of [201, 202, 204]) {
        const { code, applied } = await failureOf(client().createPlant({ id, name: 'Fern' }))
        assertOneOf(code, ['unexpected_status', 'unexpected_response'], `code for ${id}`)
        assertOneOf(applied, ['maybe', 'yes'], `applied for ${id}`)
      }
      assertEqual((await seen()).length, 3, 'requests')
    },
  },
  {
    claim: "a proxy's 502 page is retried",
    script: ({ attempt, send }) => send(attempt < 3 ? proxyPage(502) : stored()),
    async check({ client, seen }) {
      assertEqual(await client().createPlant(PLANT), { name: 'Fern' }, 'the plant')
      assertEqual((await seen()).length, 3, 'requests')
    },
  },
  {
    claim: "a proxy's 500, 502, 503 or 504 page does not prove that nothing was stored",
    script: ({ request, send }) => send(proxyPage((JSON.parse(request.body) as { id: number }).id)),
    async check({ client, failureOf }) {
      const { createPlant } = client({ maxRetries: 0 })
      for (const id of [500, 502, 503, 504]) {
        const { applied, status } = await failureOf(createPlant({ id, name: 'Fern' }))
        assertEqual([status, applied], [id, 'maybe'], `status and applied for ${id}`)
      }
    },
  },
  {
    claim: 'the number of an Error decides whether the plant may have been stored',
    script({ request, send }) {
      const { id } = JSON.parse(request.body) as { id: number }
      send(refused(id, 'no', ['x-request-id: abc-1']))
    },
    differs: OPEN_AFTER_REFUSAL,
    async check({ client, differs, failureOf, seen }) {
      const { createPlant } = client({ maxRetries: 0 })
      for (const [id, allowed] of Object.entries(APPLIED)) {
        const failure = await failureOf(createPlant({ id: Number(id), name: 'Fern' }))
        assertOneOf(failure.applied, differs ? [...allowed, 'maybe'] : allowed, `applied for ${id}`)
        assertEqual([failure.apiCode, failure.requestId], [Number(id), 'abc-1'], 'code, request id')
      }
      assertEqual((await seen()).length, Object.keys(APPLIED).length, 'requests')
    },
  },
  {
    claim: 'a 400 without an Error body is still typed and not retried',
    script: ({ attempt, send }) => {
      const bodies = ['', '{"error":"x"}', '{"error":40002.5,"message":"m"}', 'null', '{', '[]']
      send(reply({ status: 400, body: bodies[attempt - 1] ?? '' }))
    },
    async check({ client, failureOf, seen }) {
      for (let count = 1; count <= 6; count++) {
        const { status, code } = await failureOf(client().createPlant(PLANT))
        assertEqual(status, 400, 'status')
        assertOneOf(code, ['rejected', 'unexpected_response'], 'code')
        assertEqual((await seen()).length, count, 'requests')
      }
    },
  },
]
