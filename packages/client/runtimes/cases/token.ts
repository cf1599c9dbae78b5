import { assertEqual, assertTrue } from '../assertions.ts'
import { type Case, OPEN_AFTER_REFUSAL } from '../case.ts'
import { refused, stored, unavailable } from '../replies.ts'
import { PLANT } from './plants.ts'

function unauthorized(): string {
  return refused(40101, 'the token is not valid', ['www-authenticate: Bearer realm="plants"'])
}

const refreshed: Case = {
  claim: 'a 401 is sent again with a refreshed token, which uses up no retry',
  script({ attempt, request, send }) {
    if (request.headers.authorization !== 'Bearer fresh') send(unauthorized())
    else send(attempt === 2 ? unavailable('retry-after: 0') : stored())
  },
  async check({ client, seen }) {
    const asked: boolean[] = []
    const token = ({ refresh }: { refresh: boolean }) => {
      asked.push(refresh)
      return asked.length > 1 ? 'fresh' : 'stale'
    }
    const plant = await client({ token, maxRetries: 1 }).createPlant(PLANT)
    assertEqual(plant, { name: 'Fern' }, 'the plant')
    assertEqual(asked.slice(0, 2), [false, true], 'refresh')
    assertEqual((await seen()).length, 3, 'requests')
  },
}

export const tokenCases: readonly Case[] = [
  refreshed,
  {
    claim: 'a 401 that stays is given up after one refresh, and at once with a fixed token',
    script: ({ send }) => send(unauthorized()),
    differs: OPEN_AFTER_REFUSAL,
    async check({ client, differs, failureOf, seen }) {
      const { code, applied } = await failureOf(client({ token: () => 'stale' }).createPlant(PLANT))
      assertEqual([code, applied], ['unauthorized', differs ? 'maybe' : 'no'], 'the error')
      assertEqual((await seen()).length, 2, 'requests with a function')
      await failureOf(client({ token: 'fixed' }).createPlant(PLANT))
      assertEqual((await seen()).length, 3, 'requests in all')
    },
  },
  {
    claim: 'a token that runs out between two attempts is refreshed',
    script({ attempt, request, send }) {
      if (attempt === 1) send(unavailable('retry-after: 0'))
      else send(request.headers.authorization === 'Bearer fresh' ? stored() : unauthorized())
    },
    async check({ client, seen }) {
      const token = ({ refresh }: { refresh: boolean }) => (refresh ? 'fresh' : 'stale')
      assertEqual(await client({ token }).createPlant(PLANT), { name: 'Fern' }, 'the plant')
      assertEqual((await seen()).length, 3, 'requests')
    },
  },
  {
    claim: 'calls at the same time share one question for the token',
    script: ({ send }) => send(stored()),
    async check({ client }) {
      let asked = 0
      const token = async () => {
        asked++
        await new Promise((resolve) => setTimeout(resolve, 20))
        return 'shared'
      }
      const { createPlant } = client({ token })
      await Promise.all(Array.from({ length: 5 }, (_, id) => createPlant({ id, name: 'Fern' })))
      assertEqual(asked, 1, 'questions')
    },
  },
  {
    claim: 'the abort of one call does not take the shared token from another',
    script: ({ send }) => send(stored()),
    async check({ client }) {
      const controller = new AbortController()
      const token = ({ signal }: { signal?: AbortSignal }) =>
        new Promise<string>((resolve, reject) => {
          signal?.addEventListener('abort', () => reject(new Error('the question was withdrawn')))
          setTimeout(() => resolve('shared'), 40)
        })
      const { tryCreatePlant } = client({ token })
      const left = tryCreatePlant(PLANT, { signal: controller.signal })
      const stays = tryCreatePlant(PLANT)
      setTimeout(() => controller.abort(), 10)
      assertEqual((await left).ok, false, 'the call that left')
      assertEqual((await stays).ok, true, 'the call that stayed')
    },
  },
  {
    claim: 'a token function that fails, or gives no text, sends nothing',
    script: ({ send }) => send(stored()),
    async check({ client, failureOf, library, seen }) {
      const functions = [
        () => Promise.reject(new Error('the vault is closed')),
        () => {
          throw new TypeError('the vault is broken')
        },
        () => undefined as unknown as string,
      ]
      for (const token of functions) {
        const failure = await failureOf(client({ token }).createPlant(PLANT))
        assertTrue(failure instanceof library.PlantStoreError, `it is ${failure.name}`)
        assertEqual([failure.applied, failure.attempts], ['no', 0], 'applied and attempts')
      }
      assertEqual((await seen()).length, 0, 'requests')
    },
  },
  {
    claim: 'space around a token, such as the newline of a file, is left out',
    script: ({ send }) => send(stored()),
    async check({ client, seen }) {
      await client({ token: ' abc\r\n' }).createPlant(PLANT)
      await client({ token: async () => 'abc\n' }).createPlant(PLANT)
      const credentials = (await seen()).map(({ headers }) => headers.authorization)
      assertEqual(credentials, ['Bearer abc', 'Bearer abc'], 'credentials')
    },
  },
]
