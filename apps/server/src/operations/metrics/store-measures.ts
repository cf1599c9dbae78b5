import { Gauge, type Registry } from '@prometheus-io/client'
import type { StoreMeasures } from '../../store/observer.ts'
import type { Store } from '../../store/store.ts'

interface Measured {
  readonly name: string
  readonly help: string
  /** Undefined where the engine has no such thing; the metric is then left out. */
  readonly read: (measures: StoreMeasures) => number | undefined
}

const MEASURED: readonly Measured[] = [
  {
    name: 'plant_store_waiting_plants',
    help: 'Plants that wait for a commit to begin.',
    read: ({ waitingPlants }) => waitingPlants,
  },
  {
    name: 'plant_store_waiting_plants_limit',
    help: 'Plants that may wait; one more is answered 503.',
    read: ({ queueLimit }) => queueLimit,
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
    help: 'Open connections to PostgreSQL that nothing uses now.',
    read: ({ pool }) => pool?.idle,
  },
  {
    name: 'plant_store_postgres_pool_waiting',
    help: 'Commits, look-ups and checks that wait for a connection to PostgreSQL.',
    read: ({ pool }) => pool?.waiting,
  },
  {
    name: 'plant_store_postgres_pool_connections_limit',
    help: 'Connections to PostgreSQL that may be open.',
    read: ({ pool }) => pool?.limit,
  },
]

/** Gauges that ask the store once for each scrape. */
export function addStoreMeasures(registers: Registry[], store: Pick<Store, 'measure'>): void {
  let asked: Promise<StoreMeasures> | undefined

  /** The registry reads all of its metrics in one turn of the event loop, so they share a look. */
  function measure(): Promise<StoreMeasures> {
    if (asked !== undefined) return asked
    setImmediate(() => {
      asked = undefined
    })
    asked = store.measure()
    return asked
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
