import { assertEqual, assertTrue } from '../assertions.ts'
import type { Case } from '../case.ts'
import { reply, stored } from '../replies.ts'
import { PLANT } from './plants.ts'

const EXACT_IDS = [
  9_007_199_254_740_993n,
  9_223_372_036_854_775_807n,
  -9_223_372_036_854_775_808n,
  -9_007_199_254_740_993n,
  0n,
]

const BAD_PLANTS: readonly unknown[] = [
  { id: 2 ** 53, name: 'Fern' },
  { id: 1.5, name: 'Fern' },
  { id: Number.NaN, name: 'Fern' },
  { id: '7', name: 'Fern' },
  { id: 2n ** 63n, name: 'Fern' },
  { id: 7 },
  { id: 7, name: 'lone \ud800 surrogate' },
  { id: 7, name: 'nul \u0000' },
  { id: 7, name: 'Fern', tag: null },
  null,
  undefined,
  'Fern',
]

const NAME = '🌵 "\\\n\u2028 </script> ünïcode \u0001'

export const inputCases: readonly Case[] = [
  {
    claim: 'an id beyond 2^53 arrives with every digit',
    isClassic: true,
    script: ({ send }) => send(stored()),
    async check({ client, seen }) {
      for (const id of EXACT_IDS) await client().createPlant({ id, name: 'Fern' })
      const bodies = (await seen()).map(({ body }) => body)
      assertEqual(
        bodies,
        EXACT_IDS.map((id) => `{"id":${id},"name":"Fern"}`),
        'bodies',
      )
    },
  },
  {
    claim: 'what is no plant, an id that lost digits included, is refused before anything is sent',
    script: ({ send }) => send(stored()),
    async check({ client, failureOf, library, seen }) {
      for (const plant of BAD_PLANTS) {
        const failure = await failureOf(client().createPlant(plant as typeof PLANT))
        assertTrue(failure instanceof library.PlantStoreError, `it is ${failure.name}`)
        assertEqual([failure.applied, failure.attempts], ['no', 0], 'applied and attempts')
        assertEqual(failure.code, 'invalid_plant', 'code')
      }
      assertEqual((await seen()).length, 0, 'requests')
    },
  },
  {
    claim: 'names and tags arrive and come back with every character',
    script({ request, send }) {
      const { name, tag } = JSON.parse(request.body) as { name: string; tag?: string }
      send(reply({ body: JSON.stringify({ name, tag }) }))
    },
    async check({ client }) {
      for (const plant of [{ name: NAME }, { name: NAME, tag: '' }, { name: '', tag: NAME }]) {
        assertEqual(await client().createPlant({ id: 7, ...plant }), plant, 'the plant')
      }
    },
  },
  {
    claim: 'a path in the base URL is kept, with or without a slash at its end',
    script: ({ send }) => send(stored()),
    async check({ baseUrl, client, seen }) {
      for (const path of ['', '/', '/a/b', '/a/b/']) {
        await client({ baseUrl: baseUrl + path }).createPlant(PLANT)
      }
      const paths = (await seen()).map(({ method, path }) => `${method} ${path}`)
      const expected = ['POST /plants', 'POST /plants', 'POST /a/b/plants', 'POST /a/b/plants']
      assertEqual(paths, expected, 'paths')
    },
  },
]
