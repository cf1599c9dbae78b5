import { assertEqual, assertTrue } from '../assertions.ts'
import type { Case } from '../case.ts'
import { proxyPage, refused, reply } from '../replies.ts'
import { findSecret } from '../secret-search.ts'
import { PLANT } from './plants.ts'

/** Printable characters that mean something to patterns, replacements, JSON and URLs. */
const ODD_TOKEN = 'Zq7+/.$&(x)|[y]^"\\\'==-~wK9%41$1'

/** As long as a JWT with many claims, and the same piece of it nowhere twice. */
const LONG_TOKEN = Array.from({ length: 750 }, (_, at) => (at * 7_919 + 2 ** 31).toString(36)).join(
  '.',
)

interface Echo {
  readonly claim: string
  /** The reply that shows the credential back. */
  readonly echo: (credential: string) => string
}

const FILLER = 'x'.repeat(70)

const echoes: readonly Echo[] = [
  {
    claim: "a token that the server's message repeats is in no error",
    echo: (credential) => refused(40002, `you sent ${credential}`),
  },
  {
    claim: 'a token in a page with status 200 is in no error',
    echo: (credential) => proxyPage(200, credential),
  },
  {
    claim: 'a token across the end of what an error quotes is in no error',
    echo: (credential) => reply({ type: 'text/html', body: FILLER + credential }),
  },
  {
    claim: 'a token in broken JSON is in no error',
    echo: (credential) => reply({ body: `{"name":${JSON.stringify(credential)}` }),
  },
  {
    claim: 'a token in headers of a refusal is in no error',
    echo: (credential) =>
      reply({
        status: 401,
        headers: [`x-request-id: ${credential}`, `www-authenticate: ${credential}`],
        type: `text/${credential.replace(/[^\w]/g, '')}`,
      }),
  },
]

const remarks = new Map([
  [ODD_TOKEN, ', odd characters included'],
  [LONG_TOKEN, ', however long'],
])

function isSilentAbout(token: string, { claim, echo }: Echo): Case {
  return {
    claim: `${claim}${remarks.get(token) ?? ''}`,
    script: ({ request, send }) => send(echo(request.headers.authorization ?? '')),
    async check({ client, failureOf }) {
      const given = client({ token, maxRetries: 0 })
      const failure = await failureOf(given.createPlant(PLANT))
      assertEqual(findSecret(failure, token), undefined, 'text with the token')
      const result = await given.tryCreatePlant(PLANT)
      assertTrue(!result.ok, 'the call fails')
      const { headers: _fromTheServer, ...meta } = result.meta as { headers?: unknown }
      assertEqual(findSecret({ ...result, meta }, token), undefined, 'text of the result')
    },
  }
}

const TOKEN = 'plant_0a1b2c3d4e5f_Qm9uc2FpTW9uc3RlcmE'

export const secretCases: readonly Case[] = [
  ...echoes.map((echo) => isSilentAbout(TOKEN, echo)),
  ...echoes.map((echo) => isSilentAbout(ODD_TOKEN, echo)),
  ...echoes.map((echo) => isSilentAbout(LONG_TOKEN, echo)),
  {
    claim: 'the token is in no error of a refusal that repeats it, a lost connection or a timeout',
    script: ({ attempt, request, reset, end, send }) => {
      if (attempt === 1) reset()
      if (attempt === 2) end()
      if (attempt === 3) send(refused(40002, `you sent ${request.headers.authorization}`))
    },
    async check({ client, failureOf, refusedUrl }) {
      const options = { token: TOKEN, maxRetries: 0, timeoutMs: 100 }
      for (let count = 0; count < 4; count++) {
        const failure = await failureOf(client(options).createPlant(PLANT))
        assertEqual(findSecret(failure, TOKEN), undefined, 'text with the token')
      }
      const call = client({ ...options, baseUrl: refusedUrl }).createPlant(PLANT)
      assertEqual(findSecret(await failureOf(call), TOKEN), undefined, 'text with the token')
    },
  },
]
