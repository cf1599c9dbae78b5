import { Counter, Histogram, type Registry } from '@prometheus-io/client'
import type { StoreObserver } from '../../store/observer.ts'
import { DURATION_BUCKETS } from './buckets.ts'

/** Powers of two up to the most that one commit takes. */
const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024]

/** Measures commits as the store reports them. */
export function createStoreObserver(registers: Registry[]): StoreObserver {
  const wait = new Histogram({
    name: 'plant_store_commit_wait_seconds',
    help: 'From the arrival of a plant at the store to the beginning of its commit.',
    buckets: DURATION_BUCKETS,
    registers,
  })
  const duration = new Histogram({
    name: 'plant_store_commit_duration_seconds',
    help: 'From handing a batch of plants to the database to their outcomes.',
    buckets: DURATION_BUCKETS,
    registers,
  })
  const size = new Histogram({
    name: 'plant_store_commit_plants',
    help: 'Plants in a commit.',
    buckets: BATCH_BUCKETS,
    registers,
  })
  const failures = new Counter({
    name: 'plant_store_commit_failures_total',
    help: 'Commits that ended without outcomes: nothing stored, or not known.',
    registers,
  })
  const statement = new Histogram({
    name: 'plant_store_sqlite_commit_statement_duration_seconds',
    help: 'COMMIT of SQLite: writing the log, syncing it, and a checkpoint where one is due. The sync alone cannot be seen from outside of SQLite.',
    buckets: DURATION_BUCKETS,
    registers,
  })
  return {
    itemWaited: (waitMs) => wait.observe(waitMs / 1_000),
    commitEnded({ items, startedAt, endedAt, error }) {
      duration.observe((endedAt - startedAt) / 1_000)
      size.observe(items.length)
      if (error !== undefined) failures.inc()
    },
    commitStatementEnded: (durationMs) => statement.observe(durationMs / 1_000),
  }
}
