import type { Applied, PlantStoreClientOptions } from '../../src/index.ts'
import { assertEqual, assertTrue, type Case, type Run } from '../case.ts'
import { OPEN_AFTER_REFUSAL } from '../differences.ts'
import { type Script, says } from '../exchange.ts'
import { response, unavailable } from '../responses.ts'

/** What "at once" may take on a busy machine. */
const AT_ONCE_MS = 1_000

const REASON = new Error('the caller has left')

async function untilSeen({ setup }: Run): Promise<void> {
  while ((await setup.seen()).length === 0);
}

/** Arranges for the abort; gives options of the call. */
type Arrange = (abort: () => void, run: Run) => PlantStoreClientOptions | undefined

type Row = [state: string, script: Script, applied: Applied[], Arrange, Case['differs']?]

const rows: readonly Row[] = [
  [
    'while waiting to retry',
    says(unavailable('retry-after: 3')),
    ['no'],
    (abort) => ({ onEvent: ({ type }) => type === 'retry' && setTimeout(abort, 20) }),
    OPEN_AFTER_REFUSAL,
  ],
  [
    'while no headers have come',
    () => {},
    ['maybe'],
    (abort, run) => void untilSeen(run).then(abort),
  ],
  [
    'in the middle of a body',
    says(`${response({ framing: 'content-length: 15' })}{"name"`),
    ['maybe', 'yes'],
    (abort, run) => void untilSeen(run).then(() => setTimeout(abort, 30)),
  ],
]

export const abortCases = rows.map(
  ([state, script, applied, arrange, differs = {}]): Case => ({
    claim: `an abort ${state} ends the call at once`,
    script,
    differs,
    async check(run) {
      const controller = new AbortController()
      const { signal } = controller
      let abortedAtMs = Number.NaN
      const abort = () => {
        abortedAtMs = performance.now()
        controller.abort(REASON)
      }
      const options = arrange(abort, run) ?? {}
      const ends = { code: 'aborted', applied, attempts: 1, cause: REASON } as const
      await run.call({ options, signal, ends, differs: { applied: 'maybe' } })
      const tookMs = performance.now() - abortedAtMs
      assertTrue(tookMs <= AT_ONCE_MS, `it took ${tookMs} ms`)
      assertEqual((await run.setup.seen()).length, 1, 'requests')
    },
  }),
)
