import { type Call, type Case, once, STORED } from '../case.ts'
import { HIDES_REDIRECTS } from '../differences.ts'
import { inTurn, type Script, says, saysLast } from '../exchange.ts'
import { response, STORED_BODY, stored } from '../responses.ts'

const framed = (framing: string, body = STORED_BODY) => saysLast(response({ framing, body }))

/** Header lines of 400 kilobytes. */
const many = Array.from({ length: 2_000 }, (_, index) => `x-${index}: ${'y'.repeat(200)}`)

const SHORT = { timeoutMs: 300, totalTimeoutMs: 1_000 }

/** The bytes can be read in more than one way; a failure must be ours and must not say "no". */
const ambiguous = Object.entries<Script>({
  'an unasked 100 Continue before the response': says(`HTTP/1.1 100 Continue\r\n\r\n${stored()}`),
  'an unrequested switch of protocols': saysLast(
    'HTTP/1.1 101 Switching Protocols\r\nupgrade: tea\r\nconnection: upgrade\r\n\r\n',
  ),
  'two lengths that differ': framed('content-length: 15\r\ncontent-length: 9'),
  'a length below zero': framed('content-length: -1'),
  'a length that is no number': framed('content-length: fifteen'),
  'a length beyond every number': framed(`content-length: ${'9'.repeat(40)}`),
  'a length shorter than the body': framed('content-length: 9'),
  'a length beside chunks': framed(
    'content-length: 3\r\ntransfer-encoding: chunked',
    `f\r\n${STORED_BODY}\r\n0\r\n\r\n`,
  ),
  'a chunk size that is no number': framed('transfer-encoding: chunked', 'zz\r\n'),
  'bytes that are not gzip, labelled gzip': saysLast(
    response({ headers: ['content-encoding: gzip'], body: 'this is no gzip' }),
  ),
  'an unknown encoding': says(
    response({ headers: ['content-encoding: rot13'], body: '{"anzr":"Srea"}' }),
  ),
  'bytes that are not HTTP': saysLast('\u0000\u0001\u0002 220 mail.example ESMTP ready\r\n'),
  'a status beyond three digits': saysLast('HTTP/1.1 2000 OK\r\ncontent-length: 2\r\n\r\n{}'),
  'headers of 400 kilobytes': saysLast(response({ headers: many, body: STORED_BODY })),
}).map(
  ([what, script]): Case => ({
    claim: `${what}: the plant or an error of the client, never "no", and in time`,
    script,
    calls: [once({ applied: ['maybe', 'yes'] }, { options: SHORT })],
  }),
)

const redirected = [301, 302, 303, 307, 308].map(
  (status): Call => ({
    id: status,
    ends: {
      code: ['unexpected_status', 'unexpected_response'],
      applied: ['maybe', 'no'],
      status,
    },
    differs: { status: 0 },
  }),
)

export const protocolCases: readonly Case[] = [
  {
    claim: 'early hints before the response change nothing',
    script: says(`HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n${stored()}`),
    calls: [STORED],
    requests: 1,
  },
  {
    claim: 'a redirect to another origin is not followed, so neither plant nor token goes there',
    script({ request, strayUrl, send }) {
      const { id } = JSON.parse(request.body)
      send(response({ status: id, headers: [`location: ${strayUrl}`] }))
    },
    differs: HIDES_REDIRECTS,
    calls: redirected,
    requests: redirected.length,
  },
  {
    claim: 'bytes beyond the length of one response are not taken for the next response',
    script: inTurn(says(stored() + response({ body: '{"name":"Forged"}' })), says(stored())),
    calls: [{ ends: {} }, STORED],
  },
  ...ambiguous,
]
