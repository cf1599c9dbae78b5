import { type Call, type Case, once, STORED } from '../case.ts'
import {
  OPEN_AFTER_CUT,
  OPEN_AFTER_FAILURE,
  OPEN_AFTER_REFUSAL,
  OPEN_AFTER_STALL,
  SENDS_AGAIN,
} from '../differences.ts'
import { inTurn, resets, type Script, says, saysLast } from '../exchange.ts'
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
    script: inTurn(lose, saysLast(stored('connection: close')), lose),
    calls: [STORED, once({ code: LOST, applied: OPEN, attempts: 1, retryable: true })],
    requests: 3,
  }),
)

/** A runtime may send again by itself; what the first of its requests did is then not known. */
const keptBreaks = Object.entries({ 'is reset': resets, ends }).map(
  ([what, part]): Case => ({
    claim: `a kept connection that ${what} leaves the outcome open`,
    script: inTurn(says(stored()), part, says(unavailable())),
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

/** Longer than any of the calls; some runtimes stay alive for a handshake that nobody waits for. */
const STALL_MS = 1_500

const stall: Script = async ({ pause, reset }) => {
  await pause(STALL_MS)
  reset()
}

const PLAIN = 'HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'

/** A call by https that surely stores nothing, where the runtime says how far the connection came. */
const byTls = (what: string, how: Partial<Case>, call: Call): Case => ({
  claim: `${what} surely stored nothing`,
  script: says(stored()),
  requests: 0,
  ...how,
  calls: [
    {
      to: 'tls',
      ...call,
      options: { timeoutMs: 800, ...call.options },
      ends: { applied: 'no', ...call.ends },
      differs: { applied: 'maybe', ...call.differs },
    },
  ],
})

/** The server cannot be spoken to, which no second request changes. */
const REFUSED: Call = {
  ends: { code: 'tls_failed', attempts: 1 },
  differs: { code: 'connection_lost', attempts: 4 },
}

const handshakes = [
  byTls(
    'a port that speaks no TLS, and is asked once,',
    { onHandshake: saysLast(PLAIN), differs: OPEN_AFTER_FAILURE },
    REFUSED,
  ),
  byTls(
    'a certificate that is not trusted, and is asked for once,',
    { isTls: true, differs: OPEN_AFTER_FAILURE },
    REFUSED,
  ),
  byTls('a handshake that is cut', { onHandshake: resets, differs: OPEN_AFTER_CUT }, { ends: {} }),
  byTls(
    'a handshake that stalls until the time is up',
    { onHandshake: stall, differs: OPEN_AFTER_STALL },
    once({ code: 'attempt_timeout' }),
  ),
  byTls(
    'a call that is aborted in the middle of a handshake',
    { onHandshake: stall, differs: OPEN_AFTER_STALL },
    { abort: { on: 'request', afterMs: 300 }, ends: { code: 'aborted' } },
  ),
]

/** The request is there long before. */
const LATE: Call['abort'] = { on: 'request', afterMs: 500 }

const aborts = [
  ['in the middle of a body', says(CUT), LATE, OPEN],
  ['while no headers have come', () => {}, LATE, 'maybe'],
  ['in a wait', says(unavailable('retry-after: 3')), { on: 'retry', afterMs: 20 }, 'no'],
] as const

const abortCases = aborts.map(
  ([state, script, abort, applied]): Case => ({
    claim: `an abort ${state} ends the call at once`,
    script,
    calls: [
      {
        abort,
        ends: { code: 'aborted', attempts: 1, isReason: true, applied },
        differs: { applied: 'maybe' },
      },
    ],
    requests: 1,
    differs: applied === 'no' ? OPEN_AFTER_REFUSAL : {},
  }),
)

export const connectionCases: readonly Case[] = [
  ...lost,
  ...keptBreaks,
  ...handshakes,
  ...abortCases,
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
    script: inTurn(says(stored()), resets, says(stored())),
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
