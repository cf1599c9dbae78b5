import type { Logger } from 'pino'
import { type Store, StoreUnavailableError } from '../store/store.ts'

export interface ReadinessParts {
  readonly log: Logger
  readonly store: Pick<Store, 'isReady'>
  readonly shutdown: { readonly hasBegun: boolean }
}

export type Readiness = ReturnType<typeof watchReadiness>

/** How old the last check may be where nobody asks; one takes 2 ms over PostgreSQL, else 20 µs. */
const CHECK_MS = 5_000

/** The same while not ready, and after a failure. */
const RECHECK_MS = 1_000

/** Logs each change between ready, which a server is when it starts, and not ready. */
function createChangeLog(log: Logger) {
  let brokeAt: number | undefined
  let latest = 0
  return {
    get isReady() {
      return brokeAt === undefined
    },
    /** The result of a check that began at `startedAt`; one that was overtaken says nothing new. */
    note(startedAt: number, failure?: StoreUnavailableError): void {
      if (startedAt < latest) return
      latest = startedAt
      if (failure !== undefined && brokeAt === undefined) {
        brokeAt = startedAt
        const { message: reason, fix, cause: err } = failure
        log.warn({ reason, fix, err }, 'not ready')
      } else if (failure === undefined && brokeAt !== undefined) {
        log.info({ notReadyMs: Math.round(startedAt - brokeAt) }, 'ready')
        brokeAt = undefined
      }
    },
  }
}

/**
 * Watches whether the server is ready, which is logged when it changes. It drains only once: that is
 * no change to log here.
 */
export function watchReadiness({ log, store, shutdown }: ReadinessParts) {
  const changes = createChangeLog(log)
  let checkedAt = performance.now()

  async function assert(): Promise<void> {
    if (shutdown.hasBegun) throw new StoreUnavailableError('the server is shutting down')
    const startedAt = performance.now()
    checkedAt = startedAt
    const failure = await findFailure(store)
    // What ends now may be what the end has caused.
    if (!shutdown.hasBegun) changes.note(startedAt, failure)
    if (failure !== undefined) throw failure
  }

  function checkIfOlder(ms: number): void {
    if (performance.now() - checkedAt < ms || shutdown.hasBegun) return
    // Its result is logged.
    assert().catch(() => {})
  }

  let timer: NodeJS.Timeout | undefined

  return {
    /** @throws StoreUnavailableError with the reason while creates cannot be answered 200. */
    assert,
    /** Checks now, unless that was done within the last second: something has failed. */
    suspect: () => checkIfOlder(RECHECK_MS),
    /** Begins to check by itself, so that changes are logged where nobody asks. */
    start() {
      timer = setInterval(() => {
        checkIfOlder(changes.isReady ? CHECK_MS : RECHECK_MS)
      }, RECHECK_MS).unref()
    },
    /** Ends those checks. */
    close: () => clearInterval(timer),
  }
}

/** Why creates cannot be answered 200; undefined where they can. */
async function findFailure(
  store: Pick<Store, 'isReady'>,
): Promise<StoreUnavailableError | undefined> {
  try {
    return (await store.isReady()) ? undefined : new StoreUnavailableError('the store is not ready')
  } catch (error) {
    if (error instanceof StoreUnavailableError) return error
    const { fix } = error as Partial<StoreUnavailableError>
    return new StoreUnavailableError('the store is not ready', { cause: error, fix })
  }
}
