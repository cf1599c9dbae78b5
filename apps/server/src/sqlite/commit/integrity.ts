import { OutcomeUnknownError, StoreUnavailableError } from '../../store/store.ts'

/** Whether a database file can be relied on, as its commits have shown. */
export interface Integrity {
  /** Resolves once it cannot be relied on any more. */
  readonly failure: Promise<OutcomeUnknownError>
  /** `doubtful` after a commit that stored nothing. */
  readonly state: 'ready' | 'doubtful' | 'failed'
  fail(fault: OutcomeUnknownError): void
  /** Takes note of the error of a commit, whichever thread's. */
  learn(error: unknown): void
  /** Runs a commit and learns from how it ends; refuses when the file has failed. */
  watch<Result>(commit: () => Promise<Result>): Promise<Result>
}

export function createIntegrity(onFailure: (fault: OutcomeUnknownError) => void): Integrity {
  const { promise: failure, resolve } = Promise.withResolvers<OutcomeUnknownError>()
  let state: Integrity['state'] = 'ready'

  function fail(fault: OutcomeUnknownError): void {
    state = 'failed'
    resolve(fault)
    onFailure(fault)
  }

  function learn(error: unknown): void {
    if (error instanceof OutcomeUnknownError) fail(error)
    else if (state === 'ready') state = 'doubtful'
  }

  return {
    failure,
    fail,
    learn,
    get state() {
      return state
    },
    async watch(commit) {
      if (state === 'failed') throw new StoreUnavailableError('the store has failed')
      try {
        const result = await commit()
        if (state === 'doubtful') state = 'ready'
        return result
      } catch (error) {
        learn(error)
        throw error
      }
    },
  }
}
