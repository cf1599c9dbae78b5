/**
 * Is told what a store does while it does it, for whoever measures. Every method must return
 * within a microsecond or so, and must not throw. Times are in milliseconds.
 */
export interface StoreObserver {
  /** A commit took up a plant that had waited so long for it. */
  plantWaited(waitMs: number): void
  /** A commit of so many plants ended, with their outcomes or with an error. */
  commitEnded(plants: number, durationMs: number, hasFailed: boolean): void
  /**
   * SQLite's COMMIT returned: the log is written and synced, and a checkpoint done where one was
   * due. The sync alone cannot be seen from outside of SQLite.
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

/** What a store tells of itself when it is asked. */
export interface StoreMeasures {
  /** Plants that wait for a commit to begin. */
  readonly waitingPlants: number
  /** Plants that may wait. */
  readonly queueLimit: number
  readonly sqlite?: SqliteMeasures
  readonly pool?: PoolMeasures
}

export interface SqliteMeasures {
  readonly databaseBytes: number
  /** Of the write-ahead log. */
  readonly logBytes: number
  /** On the file system of the database, for this user. */
  readonly diskFreeBytes: number
}

/** Connections to PostgreSQL. */
export interface PoolMeasures {
  readonly limit: number
  readonly open: number
  readonly idle: number
  /** Callers that wait for a connection. */
  readonly waiting: number
}
