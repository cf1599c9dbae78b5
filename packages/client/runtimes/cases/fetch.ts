import { assertEqual, assertOneOf, assertTrue, assertWithin } from '../assertions.ts'
import type { Case } from '../case.ts'
import { stored } from '../replies.ts'
import { findSecret } from '../secret-search.ts'
import { PLANT } from './plants.ts'

/** What a busy machine may add. */
const SLACK_MS = 1_500

const brokenFetches: readonly (() => unknown)[] = [
  () => {
    throw new TypeError('no such thing')
  },
  () => Promise.reject('a text'),
  () => Promise.reject(undefined),
  () => Promise.reject(Object.freeze({ code: 'ODD', cause: null })),
  () => Promise.resolve(undefined),
  () => Promise.resolve({ status: 200 }),
  () => undefined,
]

const TOKEN = 'plant_9e8d7c6b5a40_UGhpbG9kZW5kcm9u'

function quoting(init: RequestInit | undefined): Error {
  const credential = new Headers(init?.headers).get('authorization')
  const innermost = Object.assign(new Error(`sent ${credential}`), { code: `E ${credential}` })
  innermost.name = `Odd ${credential}`
  const cause = Object.assign(new AggregateError([innermost], String(credential)), { innermost })
  return Object.assign(new TypeError(`it refused ${credential}`, { cause }), { init })
}

export const fetchCases: readonly Case[] = [
  {
    claim: 'a fetch of the caller that heeds no signal is left at the time of the attempt',
    script: () => {},
    async check({ client, failureOf }) {
      const begin = performance.now()
      const options = {
        fetch: () => new Promise<Response>(() => {}),
        timeoutMs: 100,
        maxRetries: 0,
      }
      const { applied, code } = await failureOf(client(options).createPlant(PLANT))
      assertWithin(performance.now() - begin, 90, 100 + SLACK_MS, 'time until it fails')
      assertEqual([applied, code], ['maybe', 'attempt_timeout'], 'the error')
    },
  },
  {
    claim: 'a body without end is left there, too',
    script: () => {},
    async check({ client, failureOf }) {
      const body = () => new ReadableStream({ pull: () => new Promise<void>(() => {}) })
      const fetch = async () => new Response(body(), { status: 200 })
      const begin = performance.now()
      const { code } = await failureOf(
        client({ fetch, timeoutMs: 100, maxRetries: 0 }).createPlant(PLANT),
      )
      assertWithin(performance.now() - begin, 90, 100 + SLACK_MS, 'time until it fails')
      assertEqual(code, 'attempt_timeout', 'code')
    },
  },
  {
    claim: 'whatever a fetch of the caller throws or gives, the error is of the client',
    script: () => {},
    async check({ client, failureOf }) {
      for (const fetch of brokenFetches) {
        const options = { fetch: fetch as typeof globalThis.fetch, maxRetries: 0 }
        const { applied } = await failureOf(client(options).createPlant(PLANT))
        assertEqual(applied, 'maybe', 'applied')
      }
    },
  },
  {
    claim: 'a token that an error of fetch quotes, at any depth, is in no error of the client',
    script: () => {},
    async check({ client, failureOf }) {
      const fetch = async (_url: unknown, init?: RequestInit) => {
        throw quoting(init)
      }
      const failure = await failureOf(
        client({ fetch, token: TOKEN, maxRetries: 0 }).createPlant(PLANT),
      )
      assertEqual(findSecret(failure, TOKEN), undefined, 'text with the token')
    },
  },
  {
    claim: 'the fetch is looked up at each call, and the bytes that it is given are those sent',
    isAlone: true,
    script: ({ send }) => send(stored()),
    async check({ client, seen }) {
      const { createPlant } = client()
      const original = globalThis.fetch
      const bodies: unknown[] = []
      globalThis.fetch = Object.assign((...[input, init]: Parameters<typeof fetch>) => {
        bodies.push(init?.body)
        return original(input, init)
      }, original)
      try {
        await createPlant(PLANT)
      } finally {
        globalThis.fetch = original
      }
      await createPlant(PLANT)
      const sent = (await seen()).map(({ body }) => body)
      assertEqual(bodies, sent.slice(0, 1), 'bodies')
      assertEqual(sent.length, 2, 'requests')
    },
  },
  {
    claim: 'headers that cannot be sent, or would replace the credential, are refused by name',
    script: ({ send }) => send(stored()),
    async check({ client, failureOf, library, seen }) {
      const given: Record<string, string>[] = [
        { authorization: 'Bearer other' },
        { Authorization: 'Bearer other' },
        { 'x-note': 'a\r\nx-evil: b' },
        { 'bad name': 'a' },
      ]
      for (const headers of given) {
        const creates = [
          async () => client({ headers }).createPlant(PLANT),
          async () => client().createPlant(PLANT, { headers }),
        ]
        for (const create of creates) {
          const failure = await failureOf(create())
          assertTrue(failure instanceof library.PlantStoreError, `it is ${failure.name}`)
          assertOneOf(failure.code, ['invalid_option'], 'code')
        }
      }
      assertEqual((await seen()).length, 0, 'requests')
    },
  },
]
