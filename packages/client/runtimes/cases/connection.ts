import { type Case, once, STORED } from '../case.ts'
import { OPEN_AFTER_FAILURE, SENDS_AGAIN } from '../differences.ts'
import { resets, type Script, says, saysLast } from '../exchange.ts'
import { response, STORED_BODY, stored, unavailable } from '../responses.ts'

const LOST = ['connection_lost', 'connection_failed'] as const
const OPEN = ['maybe', 'yes'] as const

const CUT = response({ framing: 'content-length: 15' }) + STORED_BODY.slice(0, 7)
const CUT_CHUNKS = `${response({ framing: 'transfer-encoding: chunked' })}f\r\n${STORED_BODY}\r\n`

const resetsAfter =
  (bytes: string): Script =>
  async ({ send, pause, reset }) => {
    send(bytes)
    await pause(10)
    reset()
  }
const ends: Script = ({ end }) => end()

/** The first attempt is lost, the next is answered; alone, the first leaves the outcome open. */
const lost = Object.entries<Script>({
  'a reset instead of a response': resets,
  'an end of the connection instead of a response': ends,
  'a reset in the middle of the headers': resetsAfter('HTTP/1.1 200 OK\r\ncontent-le'),
  'a body cut short': saysLast(CUT),
  'a body cut by a reset': resetsAfter(CUT),
}).map(
  ([what, lose]): Case => ({
    claim: `${what} is retried, and leaves the outcome open`,
    script: (exchange) =>
      (exchange.attempt % 2 === 1 ? lose : saysLast(stored('connection: close')))(exchange),
    calls: [STORED, once({ code: LOST, applied: OPEN, attempts: 1, retryable: true })],
    requests: 3,
  }),
)

/** A runtime may send again by itself; what the first of its requests did is then not known. */
const keptBreaks = Object.entries({ 'is reset': resets, ends }).map(
  ([what, part]): Case => ({
    claim: `a kept connection that ${what} leaves the outcome open`,
    script: (exchange) =>
      ([says(stored()), part][exchange.attempt - 1] ?? says(unavailable()))(exchange),
    calls: [STORED, once({ applied: 'maybe' })],
  }),
)

const FAILED_ONCE = { code: [...LOST, 'server_error', 'attempt_timeout'], attempts: 1 } as const

const failing: readonly Script[] = [
  resets,
  saysLast(unavailable('connection: close')),
  ends,
  saysLast(CUT),
  () => {},
]

export const connectionCases: readonly Case[] = [
  ...lost,
  ...keptBreaks,
  {
    claim: 'a chunked body without its last chunk is never taken for a failure that stored nothing',
    script: saysLast(CUT_CHUNKS),
    // Some runtimes take the end of the connection for the end of the body, which is whole here.
    calls: [once({ applied: OPEN })],
  },
  {
    claim: 'a refused connection surely stored nothing',
    script: () => {},
    differs: OPEN_AFTER_FAILURE,
    calls: [
      {
        to: 'nobody',
        options: { maxRetries: 1 },
        ends: { code: 'connection_failed', applied: 'no', attempts: 2 },
        differs: { code: LOST, applied: 'maybe' },
      },
    ],
  },
  {
    claim: 'a connection that is reset before any byte is retried',
    refusesConnection: true,
    script: says(stored()),
    calls: [STORED],
    requests: 1,
  },
  {
    claim: 'a kept connection that the server closes under the next request does not fail the call',
    script: ({ attempt, send, reset }) => (attempt % 2 === 0 ? reset() : send(stored())),
    calls: [STORED, STORED],
    requests: 3,
  },
  {
    claim: 'zero retries means one request, whatever happens',
    differs: SENDS_AGAIN,
    script: (exchange) => failing[JSON.parse(exchange.request.body).id]?.(exchange),
    calls: failing.map((_, id) => once(FAILED_ONCE, { id, options: { timeoutMs: 200 } })),
    requests: failing.length,
  },
]
