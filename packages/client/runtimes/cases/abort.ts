import type { PlantStoreClientOptions } from '../../src/index.ts'
import { assertTrue, type Case, type CaseTools, type Ends, type Script } from '../case.ts'
import { OPEN_AFTER_REFUSAL } from '../differences.ts'
import { response, says, unavailable } from '../responses.ts'

/** What "at once" may take on a busy machine. */
const AT_ONCE_MS = 1_000

const REASON = new Error('the caller has left')

async function untilSeen({ seen }: CaseTools): Promise<void> {
  while ((await seen()).length === 0);
}

interface AbortedWhile {
  readonly state: string
  readonly script: Script
  readonly applied: NonNullable<Ends['applied']>
  readonly differs?: Case['differs']
  /** Arranges for the abort; gives options of the call. */
  readonly arrange: (abort: () => void, tools: CaseTools) => PlantStoreClientOptions | undefined
}

function abortedWhile({ state, script, applied, differs = {}, arrange }: AbortedWhile): Case {
  return {
    claim: `an abort ${state} ends the call at once`,
    script,
    differs,
    async check(tools) {
      const controller = new AbortController()
      const { signal } = controller
      let abortedAtMs = Number.NaN
      const options = arrange(() => {
        abortedAtMs = performance.now()
        controller.abort(REASON)
      }, tools)
      const ends: Ends = { code: 'aborted', applied, attempts: 1, cause: REASON }
      await tools.call({ options: options ?? {}, signal, ends, differs: { applied: 'maybe' } })
      const tookMs = performance.now() - abortedAtMs
      assertTrue(tookMs <= AT_ONCE_MS, `it took ${tookMs} ms`)
      assertTrue((await tools.seen()).length === 1, 'there was one request')
    },
  }
}

export const abortCases: readonly Case[] = [
  abortedWhile({
    state: 'while waiting to retry',
    script: says(unavailable('retry-after: 3')),
    applied: 'no',
    differs: OPEN_AFTER_REFUSAL,
    arrange: (abort) => ({ onEvent: ({ type }) => type === 'retry' && setTimeout(abort, 20) }),
  }),
  abortedWhile({
    state: 'while no headers have come',
    script: () => {},
    applied: 'maybe',
    arrange: (abort, tools) => void untilSeen(tools).then(abort),
  }),
  abortedWhile({
    state: 'in the middle of a body',
    script: says(`${response({ framing: 'content-length: 15' })}{"name"`),
    applied: ['maybe', 'yes'],
    arrange: (abort, tools) => void untilSeen(tools).then(() => setTimeout(abort, 30)),
  }),
]
