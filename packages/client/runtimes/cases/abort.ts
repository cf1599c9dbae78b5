import type { Call, Case } from '../case.ts'
import { OPEN_AFTER_REFUSAL } from '../differences.ts'
import { type Script, says } from '../exchange.ts'
import { response, unavailable } from '../responses.ts'

type Row = [
  state: string,
  script: Script,
  abort: Call['abort'],
  ends: Call['ends'],
  Case['differs']?,
]

const rows: readonly Row[] = [
  [
    'while waiting to retry',
    says(unavailable('retry-after: 3')),
    { on: 'retry', afterMs: 20 },
    { applied: 'no' },
    OPEN_AFTER_REFUSAL,
  ],
  // The request is there long before.
  ['while no headers have come', () => {}, { on: 'request', afterMs: 500 }, { applied: 'maybe' }],
  [
    'in the middle of a body',
    says(`${response({ framing: 'content-length: 15' })}{"name"`),
    { on: 'request', afterMs: 500 },
    { applied: ['maybe', 'yes'] },
  ],
]

export const abortCases = rows.map(
  ([state, script, abort, ends, differs = {}]): Case => ({
    claim: `an abort ${state} ends the call at once`,
    script,
    calls: [
      {
        ...(abort && { abort }),
        ends: { code: 'aborted', attempts: 1, isReason: true, ...ends },
        differs: { applied: 'maybe' },
      },
    ],
    requests: 1,
    differs,
  }),
)
