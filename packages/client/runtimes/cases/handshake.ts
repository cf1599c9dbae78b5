import type { Call, Case } from '../case.ts'
import { OPEN_AFTER_CUT, OPEN_AFTER_FAILURE, OPEN_AFTER_STALL } from '../differences.ts'
import { resets, type Script, says, saysLast } from '../exchange.ts'
import { stored } from '../responses.ts'

/** Longer than any of the calls; some runtimes stay alive for a handshake that nobody waits for. */
const STALL_MS = 1_500

const stall: Script = async ({ pause, reset }) => {
  await pause(STALL_MS)
  reset()
}

const PLAIN = 'HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'

const byTls = (maxRetries: number, ends: Call['ends'], differs?: Call['ends']): Call => ({
  to: 'tls',
  options: { maxRetries, timeoutMs: 800 },
  ends: { applied: 'no', ...ends },
  differs: { applied: 'maybe', ...differs },
})

/** The server cannot be spoken to, which no second request changes. */
const refused = byTls(
  3,
  { code: 'tls_failed', attempts: 1 },
  { code: 'connection_lost', attempts: 4 },
)

type Row = [claim: string, how: Partial<Case>, call: Call]

const rows: readonly Row[] = [
  [
    'a port that speaks no TLS surely stored nothing, and is asked once',
    { onHandshake: saysLast(PLAIN), differs: OPEN_AFTER_FAILURE },
    refused,
  ],
  [
    'a certificate that is not trusted surely stored nothing, and is asked for once',
    { isTls: true, differs: OPEN_AFTER_FAILURE },
    refused,
  ],
  [
    'a handshake that is cut surely stored nothing',
    { onHandshake: resets, differs: OPEN_AFTER_CUT },
    byTls(1, {}),
  ],
  [
    'a handshake that stalls until the time is up surely stored nothing',
    { onHandshake: stall, differs: OPEN_AFTER_STALL },
    byTls(0, { code: 'attempt_timeout' }),
  ],
  [
    'a call that is aborted in the middle of a handshake surely stored nothing',
    { onHandshake: stall, differs: OPEN_AFTER_STALL },
    { ...byTls(3, { code: 'aborted' }), abort: { on: 'request', afterMs: 300 } },
  ],
]

export const handshakeCases = rows.map(
  ([claim, how, call]): Case => ({
    claim,
    script: says(stored()),
    calls: [call],
    requests: 0,
    ...how,
  }),
)
