/** Where a server takes plants, and how. */
export interface Target {
  readonly port: number
  readonly path: string
  readonly token: string
  /** Whether ids travel as JSON strings: not everybody keeps each digit of a number. */
  readonly quotesIds: boolean
}

/** What the load generator shall do. */
export interface LoadOrder {
  readonly target: Target
  readonly connections: number
  readonly seconds: number
  /** Ends the load before its time; unlimited by default. */
  readonly requests?: number
}

/** What a program that stores plants by itself shall do. */
export interface SendOrder {
  /** The URL of a server, or the path of a database. */
  readonly to: string
  /** How many plants are on their way at once, or in a commit. */
  readonly atOnce: number
  readonly seconds: number
}

/** What was seen by whoever stored plants. */
export interface SendResult {
  readonly plants: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Processor time of its own for each plant, in µs. */
  readonly cpuUs: number
}

/** One row of the table, in one round. */
export interface Row extends Partial<SendResult> {
  readonly title: string
  /** The row of the same round that rate and processor time are divided by. */
  readonly dividedBy: string
  /** Connections, calls, or plants in a commit. */
  readonly atOnce: number
  /** Processor time of the database server for each plant, in µs. */
  readonly databaseCpuUs?: number
  /** The most memory that was resident, in MiB. */
  readonly mib?: number
}
