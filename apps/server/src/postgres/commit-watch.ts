import { within } from '../process/within.ts'
import { StoreUnavailableError } from '../store/store.ts'
import type { Connections } from './hosts.ts'

/** Longer than a commit takes unless something is wrong; callers wait 10 s. */
const SLOW_MS = 2_000

/**
 * Commits a record that everybody who reads logs overlooks. Where it still waits after a while it is
 * cancelled, so that no session is left behind.
 * @throws StoreUnavailableError then
 */
function tryCommit(connections: Connections): Promise<void> {
  return connections.use(async (client) => {
    const { rows } = await client.query('SELECT pg_backend_pid() AS pid')
    const commit = client.query("SELECT pg_logical_emit_message(true, 'plant-store', '')")
    if ((await within(SLOW_MS, commit, undefined)) !== undefined) return
    await connections.query('SELECT pg_cancel_backend($1)', [rows[0].pid])
    await commit
    throw new StoreUnavailableError('the store is not ready: no commit goes through', {
      fix: 'start the standbys that synchronous_standby_names asks for, or read their logs',
    })
  })
}

/**
 * Watches whether commits go through. What a synchronous standby that hangs holds up is their last step
 * alone: every other statement succeeds. A commit that is slow or fails leaves the next ones in doubt,
 * until one goes through.
 */
export function createCommitWatch(connections: Connections) {
  let isInDoubt = false
  let trial: Promise<void> | undefined

  function watch<Result>(commit: Promise<Result>): Promise<Result> {
    const isThrough = commit.then(
      () => true,
      () => false,
    )
    for (const known of [within(SLOW_MS, isThrough, false), isThrough]) {
      void known.then((is) => {
        isInDoubt = !is
      })
    }
    return commit
  }

  return {
    watch,
    /** In doubt tries a commit. @throws StoreUnavailableError where it does not go through */
    async assert(): Promise<void> {
      if (!isInDoubt) return
      trial ??= watch(tryCommit(connections)).finally(() => {
        trial = undefined
      })
      await trial
    },
  }
}
