import { Counter, type Registry } from '@prometheus-io/client'
import type { StoreMeasures, StoreObserver } from '../store/observer.ts'
import type { Store } from '../store/store.ts'
import { addGauge, createDistribution, DURATION_BUCKETS } from './tallies.ts'

/** Powers of two up to the most that one commit takes. */
const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024]

/** Measures commits as the store reports them. */
export function createStoreObserver(registers: Registry[]): StoreObserver {
  const measure = (name: string, buckets: readonly number[], help: string) =>
    createDistribution(buckets, { name: `plant_store_${name}`, help, registers })
  const wait = measure(
    'commit_wait_seconds',
    DURATION_BUCKETS,
    'From the arrival of a plant at the store to the beginning of its commit.',
  )
  const duration = measure(
    'commit_duration_seconds',
    DURATION_BUCKETS,
    'From sending a batch of plants to the database to their outcomes.',
  )
  const statement = measure(
    'sqlite_commit_statement_duration_seconds',
    DURATION_BUCKETS,
    'COMMIT of SQLite: writing the log, syncing it, and a checkpoint where one is due. SQLite does not show the sync alone.',
  )
  const size = measure('commit_plants', BATCH_BUCKETS, 'Plants in a commit.')
  const failures = new Counter({
    name: 'plant_store_commit_failures_total',
    help: 'Commits that ended without outcomes: nothing is stored, or it is unknown whether.',
    registers,
  })
  return {
    itemWaited: (waitMs) => wait(waitMs / 1_000),
    commitEnded({ items, startedAt, endedAt, error }) {
      duration((endedAt - startedAt) / 1_000)
      size(items.length)
      if (error !== undefined) failures.inc()
    },
    commitStatementEnded: (durationMs) => statement(durationMs / 1_000),
  }
}

type Measure = readonly [name: string, help: string, (all: StoreMeasures) => number | undefined]

/** What the engine at hand does not have is left out. */
const MEASURES: readonly Measure[] = [
  ['waiting_plants', 'Plants that wait for a commit to begin.', (all) => all.waitingPlants],
  [
    'database_created_timestamp_seconds',
    'When the store was made, in seconds since 1970; a store that was restored keeps its time.',
    ({ createdAt }) => createdAt / 1_000,
  ],
  ['sqlite_database_bytes', 'Size of the SQLite file.', ({ sqlite }) => sqlite?.databaseBytes],
  [
    'sqlite_log_bytes',
    'Size of the write-ahead log; about 4 MB unless a reader keeps it from being used again.',
    ({ sqlite }) => sqlite?.logBytes,
  ],
  [
    'sqlite_disk_free_bytes',
    'Free space on the file system of the SQLite file, for the user of the server.',
    ({ sqlite }) => sqlite?.diskFreeBytes,
  ],
  [
    'last_backup_timestamp_seconds',
    'When the last good backup by `backup` ended, in seconds since 1970; absent before the first.',
    ({ sqlite }) => sqlite?.lastBackupAt && sqlite.lastBackupAt / 1_000,
  ],
  ['postgres_pool_connections', 'Open connections to PostgreSQL.', ({ pool }) => pool?.open],
  [
    'postgres_pool_idle_connections',
    'Open connections to PostgreSQL that are not in use now.',
    ({ pool }) => pool?.idle,
  ],
  [
    'postgres_pool_waiting',
    'Commits, look-ups and checks that wait for a connection to PostgreSQL.',
    ({ pool }) => pool?.waiting,
  ],
  [
    'postgres_pool_connections_limit',
    'Most connections to PostgreSQL that may be open.',
    ({ pool }) => pool?.limit,
  ],
  [
    'postgres_standbys',
    'Standbys that are connected to the primary, synchronous or not.',
    ({ standbys }) => standbys?.connected,
  ],
  [
    'postgres_synchronous_standbys',
    'Those of them whose disks a commit may count on.',
    ({ standbys }) => standbys?.synchronous,
  ],
  [
    'postgres_synchronous_standbys_expected',
    'How many a commit waits for, by synchronous_standby_names; 0 where a failover may lose plants.',
    ({ standbys }) => standbys?.expected,
  ],
]

/** Gauges that measure the store once for each scrape. */
export function addStoreMeasures(registers: Registry[], store: Pick<Store, 'measure'>): void {
  let measured: Promise<StoreMeasures> | undefined
  /** The registry reads all metrics in one turn of the event loop, so they share one measurement. */
  function measure(): Promise<StoreMeasures> {
    setImmediate(() => {
      measured = undefined
    })
    measured ??= store.measure()
    return measured
  }
  for (const [name, help, read] of MEASURES) {
    addGauge(registers, `plant_store_${name}`, help, async () => read(await measure()))
  }
}
