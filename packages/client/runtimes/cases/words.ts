import { assertEqual, assertTrue } from '../assertions.ts'
import type { Case } from '../case.ts'
import { proxyPage, refused, reply } from '../replies.ts'
import { PLANT } from './plants.ts'

/** Clears a terminal, begins a line, deletes, colours by a control of C1, and turns a text round. */
const FORGERY = 'a\u001b[2J\u0007\r\nERROR forged\u007f\u009b31m\u202e\u2028b'

const tokens = ['token', 'e', 'reason']

/** Every error that a case meets is searched for what a terminal would obey; these bring it. */
const forgeries: readonly [where: string, bytes: string][] = [
  ["the server's message", refused(40003, FORGERY)],
  ['a page', reply({ status: 502, type: 'text/html', body: FORGERY })],
  ['JSON of another shape', reply({ body: JSON.stringify({ [FORGERY]: FORGERY }) })],
  ['a reason phrase', `HTTP/1.1 502 a\u001b[2J\u0007b\r\ncontent-length: 0\r\n\r\n`],
  ['a media type', reply({ type: 'text/a\u001b[2Jb', body: 'a page' })],
  ['a Location', reply({ status: 307, headers: ['location: /a\u001b[2J\u0007b'] })],
  ['what is no HTTP', `${FORGERY}\r\n\r\n`],
]

const forgeryCases = forgeries.map(([where, bytes]): Case => {
  return {
    claim: `control characters in ${where} are in no error`,
    script({ send, end }) {
      send(bytes)
      end()
    },
    async check({ client, failureOf }) {
      const { message, stack } = await failureOf(client({ maxRetries: 0 }).createPlant(PLANT))
      assertTrue(!`${message}${stack}`.includes('\u001b'), 'an escape is shown')
    },
  }
})

export const wordCases: readonly Case[] = [
  ...forgeryCases,
  {
    claim: 'a short token mangles no word',
    script: ({ send }) => send(refused(40003, 'the token is not valid, for this reason')),
    async check({ client, failureOf }) {
      for (const token of tokens) {
        const { message } = await failureOf(client({ token, maxRetries: 0 }).createPlant(PLANT))
        const expected =
          'the plant store answered 400: the token is not valid, for this reason (40003)'
        assertEqual(message, expected, 'message')
      }
    },
  },
  {
    claim: 'a redirect names where it leads, without the token',
    script: ({ request, send }) => {
      const [, token] = request.headers.authorization?.split(' ') ?? []
      send(reply({ status: 302, headers: [`location: https://login.example/?t=${token}`] }))
    },
    differs: { browser: 'a page sees a redirect as a reply without status' },
    async check({ client, differs, failureOf }) {
      const { message } = await failureOf(client().createPlant(PLANT))
      const where = differs ? '' : ' to https://login.example/?t=[hidden]'
      assertTrue(message.endsWith(`it is a redirect${where}, which is not followed`), message)
    },
  },
  {
    claim: 'a proxy that requires authentication is named and asked once',
    script: ({ send }) =>
      send(reply({ status: 407, headers: ['proxy-authenticate: Basic realm="a"'] })),
    differs: {
      browser: 'a page cannot see why a request failed, so it cannot know that nothing was sent',
    },
    async check({ client, differs, failureOf, seen }) {
      const { applied, message } = await failureOf(client().createPlant(PLANT))
      assertEqual(applied, 'maybe', 'applied')
      if (differs) return
      assertTrue(/proxy (?:requires )?authentication/.test(message), message)
      assertEqual((await seen()).length, 1, 'requests')
    },
  },
  {
    claim: 'a path that is not there has a code of its own, and is named',
    script: ({ attempt, send }) =>
      send(attempt === 1 ? refused(40400, 'no such path') : proxyPage(404, 'Not Found')),
    async check({ baseUrl, client, failureOf }) {
      const { createPlant } = client({ baseUrl: `${baseUrl}/v2` })
      const own = await failureOf(createPlant(PLANT))
      const page = await failureOf(createPlant(PLANT))
      assertEqual([own.code, page.code], ['not_found', 'unexpected_response'], 'codes')
      for (const { message } of [own, page]) {
        assertTrue(message.includes(`${baseUrl}/v2/plants`), message)
      }
    },
  },
  {
    claim: 'a plant that only the server refuses has the code of one that the client refuses',
    script: ({ send }) => send(refused(40002, 'name: is too long')),
    async check({ client, failureOf }) {
      const { createPlant } = client()
      const theirs = await failureOf(createPlant(PLANT))
      const ours = await failureOf(createPlant({ id: 1.5, name: 'Fern' }))
      assertEqual([theirs.code, ours.code], ['invalid_plant', 'invalid_plant'], 'codes')
      assertEqual(theirs.issues, [{ path: [], message: 'name: is too long' }], 'issues')
      assertEqual([theirs.attempts, ours.attempts], [1, 0], 'attempts')
    },
  },
]
