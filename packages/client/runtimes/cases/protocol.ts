import { assertEqual, assertOneOf, assertTrue } from '../assertions.ts'
import type { Case, CaseTools, Script } from '../case.ts'
import { reply, STORED_BODY, stored } from '../replies.ts'
import { PLANT } from './plants.ts'

/** The bytes can be read in more than one way; a failure must be ours and must not say "no". */
async function isOursOrStored({ client }: CaseTools): Promise<void> {
  const begin = performance.now()
  const result = await client({ maxRetries: 0, timeoutMs: 300 }).tryCreatePlant(PLANT)
  assertTrue(performance.now() - begin < 1_200, 'ends in time')
  if (result.ok) assertEqual(result.plant, { name: 'Fern' }, 'the plant')
  else assertOneOf(result.error.applied, ['maybe', 'yes'], `applied of ${result.error.code}`)
}

function ambiguous(what: string, script: Script): Case {
  const claim = `${what} gives the plant or an error of the client, never "no"`
  return { claim, script, check: isOursOrStored }
}

function framed(framing: string, body = STORED_BODY): Script {
  return ({ send, end }) => {
    send(reply({ framing, body }))
    end()
  }
}

const REDIRECTS = [301, 302, 303, 307, 308]

const manyHeaders = Array.from({ length: 2_000 }, (_, index) => `x-${index}: ${'y'.repeat(200)}`)

const forged = reply({ body: '{"name":"Forged"}' })

export const protocolCases: readonly Case[] = [
  {
    claim: 'early hints before the reply change nothing',
    script: ({ send }) =>
      send(`HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n${stored()}`),
    async check({ client, seen }) {
      assertEqual(await client().createPlant(PLANT), { name: 'Fern' }, 'the plant')
      assertEqual((await seen()).length, 1, 'requests')
    },
  },
  {
    claim: 'a redirect to another origin is not followed, so neither plant nor token goes there',
    script({ request, otherUrl, send }) {
      const { id } = JSON.parse(request.body) as { id: number }
      const isRedirect = request.origin === 'main'
      const headers = [`location: ${otherUrl}/plants`]
      send(isRedirect ? reply({ status: id, headers }) : stored())
    },
    differs: { browser: 'a page sees a redirect as a reply without status' },
    async check({ client, differs, failureOf, seen }) {
      const { createPlant } = client()
      for (const id of REDIRECTS) {
        const { code, status, applied } = await failureOf(createPlant({ id, name: 'Fern' }))
        assertOneOf(code, ['unexpected_status', 'unexpected_response'], `code for ${id}`)
        assertEqual(status, differs ? 0 : id, 'status')
        assertOneOf(applied, ['maybe', 'no'], `applied for ${id}`)
      }
      const requests = await seen()
      assertEqual(
        requests.map(({ origin }) => origin).join(),
        'main,main,main,main,main',
        'requests',
      )
    },
  },
  {
    claim: 'bytes beyond the length of one reply are not taken for the next reply',
    script: ({ attempt, send }) => send(attempt === 1 ? stored() + forged : stored()),
    async check({ client }) {
      const { createPlant, tryCreatePlant } = client()
      await tryCreatePlant(PLANT)
      assertEqual(await createPlant(PLANT), { name: 'Fern' }, 'the second plant')
    },
  },
  ambiguous('an unasked 100 Continue before the reply', ({ send }) =>
    send(`HTTP/1.1 100 Continue\r\n\r\n${stored()}`),
  ),
  ambiguous('an unrequested switch of protocols', ({ send, end }) => {
    send('HTTP/1.1 101 Switching Protocols\r\nupgrade: tea\r\nconnection: upgrade\r\n\r\n')
    end()
  }),
  ambiguous('two lengths that differ', framed('content-length: 15\r\ncontent-length: 9')),
  ambiguous('a length below zero', framed('content-length: -1')),
  ambiguous('a length that is no number', framed('content-length: fifteen')),
  ambiguous('a length beyond every number', framed(`content-length: ${'9'.repeat(40)}`)),
  ambiguous('a length shorter than the body', framed('content-length: 9')),
  ambiguous(
    'a length beside chunks',
    framed('content-length: 3\r\ntransfer-encoding: chunked', `f\r\n${STORED_BODY}\r\n0\r\n\r\n`),
  ),
  ambiguous('a chunk size that is no number', framed('transfer-encoding: chunked', 'zz\r\n')),
  ambiguous('bytes that are not gzip, labelled gzip', ({ send, end }) => {
    send(reply({ headers: ['content-encoding: gzip'], body: 'this is no gzip' }))
    end()
  }),
  ambiguous('an unknown encoding', ({ send }) =>
    send(reply({ headers: ['content-encoding: rot13'], body: '{"anzr":"Srea"}' })),
  ),
  ambiguous('bytes that are not HTTP', ({ send, end }) => {
    send('\u0000\u0001\u0002 220 mail.example ESMTP ready\r\n')
    end()
  }),
  ambiguous('a status beyond three digits', ({ send, end }) => {
    send(`HTTP/1.1 2000 OK\r\ncontent-length: 2\r\n\r\n{}`)
    end()
  }),
  ambiguous('a header of 400 kilobytes', ({ send, end }) => {
    send(reply({ headers: manyHeaders, body: STORED_BODY }))
    end()
  }),
]
