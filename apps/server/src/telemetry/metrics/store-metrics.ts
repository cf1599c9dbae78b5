import { Counter, Gauge, type Registry } from '@prometheus-io/client'
import type { StoreMeasures, StoreObserver } from '../../store/observer.ts'
import type { Store } from '../../store/store.ts'
import { DURATION_BUCKETS } from './request-metrics.ts'
import { createDistribution } from './tallies.ts'

/** Powers of two up to the most that one commit takes. */
const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024]

/** Measures commits as the store reports them. */
export function createStoreObserver(registers: Registry[]): StoreObserver {
  const wait = createDistribution(DURATION_BUCKETS, {
    name: 'plant_store_commit_wait_seconds',
    help: 'From the arrival of a plant at the store to the beginning of its commit.',
    registers,
  })
  const duration = createDistribution(DURATION_BUCKETS, {
    name: 'plant_store_commit_duration_seconds',
    help: 'From sending a batch of plants to the database to their outcomes.',
    registers,
  })
  const size = createDistribution(BATCH_BUCKETS, {
    name: 'plant_store_commit_plants',
    help: 'Plants in a commit.',
    registers,
  })
  const failures = new Counter({
    name: 'plant_store_commit_failures_total',
    help: 'Commits that ended without outcomes: nothing is stored, or it is unknown whether.',
    registers,
  })
  const statement = createDistribution(DURATION_BUCKETS, {
    name: 'plant_store_sqlite_commit_statement_duration_seconds',
    help: 'COMMIT of SQLite: writing the log, syncing it, and a checkpoint where one is due. SQLite does not show the sync alone.',
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

interface Measured {
  readonly name: string
  readonly help: string
  /** Undefined where the engine does not have it; the metric is then left out. */
  readonly read: (measures: StoreMeasures) => number | undefined
}

const MEASURED: readonly Measured[] = [
  {
    name: 'plant_store_waiting_plants',
    help: 'Plants that wait for a commit to begin.',
    read: ({ waitingPlants }) => waitingPlants,
  },
  {
    name: 'plant_store_sqlite_database_bytes',
    help: 'Size of the SQLite file.',
    read: ({ sqlite }) => sqlite?.databaseBytes,
  },
  {
    name: 'plant_store_sqlite_log_bytes',
    help: 'Size of the write-ahead log; about 4 MB unless a reader keeps it from being used again.',
    read: ({ sqlite }) => sqlite?.logBytes,
  },
  {
    name: 'plant_store_sqlite_disk_free_bytes',
    help: 'Free space on the file system of the SQLite file, for the user of the server.',
    read: ({ sqlite }) => sqlite?.diskFreeBytes,
  },
  {
    name: 'plant_store_postgres_pool_connections',
    help: 'Open connections to PostgreSQL.',
    read: ({ pool }) => pool?.open,
  },
  {
    name: 'plant_store_postgres_pool_idle_connections',
    help: 'Open connections to PostgreSQL that are not in use now.',
    read: ({ pool }) => pool?.idle,
  },
  {
    name: 'plant_store_postgres_pool_waiting',
    help: 'Commits, look-ups and checks that wait for a connection to PostgreSQL.',
    read: ({ pool }) => pool?.waiting,
  },
  {
    name: 'plant_store_postgres_pool_connections_limit',
    help: 'Most connections to PostgreSQL that may be open.',
    read: ({ pool }) => pool?.limit,
  },
]

/** Gauges that measure the store once for each scrape. */
export function addStoreMeasures(registers: Registry[], store: Pick<Store, 'measure'>): void {
  let measured: Promise<StoreMeasures> | undefined

  /** The registry reads all metrics in one turn of the event loop, so they share one measurement. */
  function measure(): Promise<StoreMeasures> {
    if (measured !== undefined) return measured
    setImmediate(() => {
      measured = undefined
    })
    measured = store.measure()
    return measured
  }

  for (const { name, help, read } of MEASURED) {
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        // A gauge that cannot be read must not hide the others.
        const value = await measure().then(read, () => undefined)
        if (value === undefined) this.remove()
        else this.set(value)
      },
    })
  }
}
