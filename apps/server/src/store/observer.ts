import type { NewPlant } from '@plant-store/contract'

/** A commit that is over. */
export interface EndedCommit<Item> {
  /** The very objects that the store was given. */
  readonly items: readonly Item[]
  /** Both by performance.now(). */
  readonly startedAt: number
  readonly endedAt: number
  /** What it failed with; undefined where it ended with outcomes. */
  readonly error: unknown
}

/**
 * Notified of commits as they end, to measure them. Every method must return within about a
 * microsecond for each item and must not throw: its error ends the process.
 */
export interface CommitObserver<Item> {
  /** A commit began with an item that had waited this long for it, in ms. */
  itemWaited(waitMs: number): void
  commitEnded(commit: EndedCommit<Item>): void
}

export interface StoreObserver extends CommitObserver<NewPlant> {
  /**
   * SQLite's COMMIT returned after `durationMs`: the log is written and synced, and a checkpoint done
   * where one was due. The sync alone cannot be seen from outside of SQLite.
   */
  commitStatementEnded(durationMs: number): void
}

/** Where the time of one create went; the store fills it in when its commit has ended. */
export interface CommitTiming {
  /** From its arrival to the beginning of its commit. */
  waitMs?: number
  /** From there to the outcome, on a thread or over a network as it may be. */
  commitMs?: number
}

/** What a store measures of itself, on demand. */
export interface StoreMeasures {
  /** Plants that wait for a commit to begin. */
  readonly waitingPlants: number
  /** When its first migration made the store, in ms since 1970; a backup keeps it. */
  readonly createdAt: number
  readonly sqlite?: SqliteMeasures
  readonly pool?: PoolMeasures
  readonly standbys?: StandbyMeasures | undefined
}

export interface SqliteMeasures {
  readonly databaseBytes: number
  /** Of the write-ahead log. */
  readonly logBytes: number
  /** On the file system of the database, for this user. */
  readonly diskFreeBytes: number
  /** When the last good backup ended, in ms since 1970; undefined where none is known. */
  readonly lastBackupAt: number | undefined
}

/** Connections to PostgreSQL. */
export interface PoolMeasures {
  readonly limit: number
  readonly open: number
  readonly idle: number
  /** Callers that wait for a connection. */
  readonly waiting: number
}

/** Standbys of a PostgreSQL primary, when readiness was last checked. */
export interface StandbyMeasures {
  /** How many a commit waits for, by synchronous_standby_names. */
  readonly expected: number
  /** Those that can be seen, synchronous or not. */
  readonly connected: number
  readonly synchronous: number
}
