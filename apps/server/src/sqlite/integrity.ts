import { OutcomeUnknownError, StoreUnavailableError } from '../store/store.ts'

/** Whether a database file can be relied on, as its commits have shown. */
export class Integrity {
  /** Resolves once it cannot be relied on any more. */
  readonly failure: Promise<OutcomeUnknownError>
  /** `doubtful` after a commit that stored nothing. */
  state: 'ready' | 'doubtful' | 'failed' = 'ready'
  readonly #fail: (fault: OutcomeUnknownError) => void

  constructor(onFailure: (fault: OutcomeUnknownError) => void) {
    const { promise, resolve } = Promise.withResolvers<OutcomeUnknownError>()
    this.failure = promise
    this.#fail = (fault) => {
      resolve(fault)
      onFailure(fault)
    }
  }

  readonly fail = (fault: OutcomeUnknownError): void => {
    this.state = 'failed'
    this.#fail(fault)
  }

  /** Runs a commit and learns from how it ends; refuses when the file has failed. */
  async watch<Result>(commit: () => Promise<Result>): Promise<Result> {
    if (this.state === 'failed') throw new StoreUnavailableError('the store has failed')
    try {
      const result = await commit()
      if (this.state === 'doubtful') this.state = 'ready'
      return result
    } catch (error) {
      if (error instanceof OutcomeUnknownError) this.fail(error)
      else if (this.state === 'ready') this.state = 'doubtful'
      throw error
    }
  }
}
