/** Where a contestant listens, and what opens it. */
export interface Listening {
  readonly port: number
  readonly token: string
}

/** What the load generator shall do. */
export interface LoadOrder {
  /** Among which the connections are divided. */
  readonly targets: readonly Listening[]
  readonly connections: number
  readonly seconds: number
  /** Ends the load before its time; unlimited by default. */
  readonly requests?: number
  /** Of the new plants; random by default. */
  readonly ids?: Ids
  /** Of rising ones; 1 by default. */
  readonly firstId?: number
  /** How many equal parts of the time are reported by themselves; one by default. */
  readonly parts?: number
}

/** `random`: uniform int64; `random-negative`: the negative ones; `rising`: one after the other. */
export type Ids = 'random' | 'random-negative' | 'rising'

/** Those that a new store is measured with. */
export type ContestIds = Exclude<Ids, 'random-negative'>

/** The shares of requests, in percent, whose latency is reported. */
export const PERCENTILES = [50, 75, 90, 95, 99, 99.9] as const

/** What the load generator saw in a part of its time. */
export interface LoadPart {
  readonly createsPerSecond: number
  /** One for each of PERCENTILES. */
  readonly latenciesMs: readonly number[]
  readonly maxMs: number
}

/** What the load generator saw in all its time. */
export interface LoadResult extends LoadPart {
  /** Right replies in all, with those that came after the time was over. */
  readonly acknowledged: number
  readonly parts: readonly LoadPart[]
  /** Of one core. */
  readonly loadCpuShare: number
  /** The first few things that went wrong; empty when nothing did. */
  readonly failures: readonly string[]
}

/** What a contestant has used since its start, without the database server behind it. */
export interface Usage {
  readonly cpuSeconds: number
  /** Of the main thread. */
  readonly mainCpuSeconds: number
  readonly maxRssBytes: number
  /** Now. */
  readonly rssBytes: number
}

/** One contestant at one number of connections in one round. */
export interface Measurement
  extends Omit<LoadResult, 'acknowledged' | 'failures' | 'parts' | 'maxMs'> {
  readonly round: number
  readonly contestant: string
  readonly connections: number
  readonly ids: ContestIds
  /** Processor time of the contestant for each create, in µs. */
  readonly cpuUs: number
  /** Of that, the main thread's of each process: the event loop, where there is one. */
  readonly mainCpuUs: number
  /** Processor time of the processes of a database for each create, in µs, where it has some. */
  readonly databaseCpuUs?: number
  /** Of the largest process, since its start. */
  readonly maxRssBytes: number
  /** pwrite(4 KiB) + fsync, measured on the same disk just before the contestant started. */
  readonly syncMs: number
}

/** How many plants arrive together where commits are measured without HTTP. */
export const TOGETHER = [1, 4, 16, 64, 256]

/** What the store of one contestant needs for plants that arrive together, without HTTP. */
export interface CommitCost {
  readonly together: number
  /** From the arrival of all until the last is stored, divided by their number; the median. */
  readonly usPerPlant: number
  readonly plantsPerCommit: number
}

export interface CommitMeasurement extends CommitCost {
  readonly round: number
  readonly contestant: string
}

/** What SQLite's thread that commits needs by itself, while batches always wait for it. */
export interface CommitThreadCost {
  /** Plants in each. */
  readonly batch: number
  readonly ids: ContestIds
  readonly plantsPerSecond: number
  /** Processor time of all threads but the one that sends, for each plant. */
  readonly cpuUs: number
}

export interface CommitThreadMeasurement extends CommitThreadCost {
  readonly round: number
}

/** What a client shall do: store plants in a server that listens there. */
export interface ClientOrder {
  readonly baseUrl: string
  /** How many plants are on their way at once. */
  readonly concurrency: number
  readonly seconds: number
}

/** What a client did. */
export interface ClientResult {
  readonly creates: number
  readonly seconds: number
  readonly cpuSeconds: number
}

/** One client at one concurrency in one round. */
export interface ClientMeasurement {
  readonly round: number
  readonly client: string
  readonly concurrency: number
  readonly createsPerSecond: number
  /** Processor time of the client for each create, in µs. */
  readonly cpuUs: number
}

/** What a server did in one minute of many, or in all of them. */
export interface EnduranceMeasurement extends LoadPart {
  /** From 1 on; 0 for all minutes together. */
  readonly minute: number
  /** How many event loops the server has. */
  readonly loops: number
  /** At the end. */
  readonly rssBytes: number
  /** The longest `GET /metrics`. */
  readonly maxScrapeMs: number
}

/** What a server did with so many plants stored already, in one round. */
export interface GrowthMeasurement {
  readonly round: number
  readonly stored: number
  readonly ids: Exclude<Ids, 'random'>
  /** How many event loops the server has. */
  readonly loops: number
  readonly createsPerSecond: number
  /** One for each of PERCENTILES. */
  readonly latenciesMs: readonly number[]
  /** Processor time of the server for each create, in µs. */
  readonly cpuUs: number
  readonly maxRssBytes: number
  /** To the disk for each create; undefined where the system does not say. */
  readonly writtenBytes?: number
  /** Of the file before the measurement. */
  readonly fileBytes: number
}
