/** Where a contestant listens, and what opens it. */
export interface Listening {
  readonly port: number
  readonly token: string
}

/** What the load generator is told to do. */
export interface LoadOrder {
  /** Among which the connections are divided. */
  readonly targets: readonly Listening[]
  readonly connections: number
  readonly seconds: number
}

/** What the load generator saw. */
export interface LoadResult {
  /** Right answers in all, with those that came after the time was over. */
  readonly acknowledged: number
  readonly createsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Of one core. */
  readonly loadCpuShare: number
  /** The first few things that went wrong; empty when nothing did. */
  readonly failures: readonly string[]
}

/** What a contestant has used since its start, without the database server behind it. */
export interface Usage {
  readonly cpuSeconds: number
  readonly maxRssBytes: number
}

/** One contestant at one number of connections in one round. */
export interface Measurement extends Omit<LoadResult, 'acknowledged' | 'failures'> {
  readonly round: number
  readonly contestant: string
  readonly connections: number
  readonly cpuSecondsPer1000: number
  /** Of the largest process, since its start. */
  readonly maxRssBytes: number
  /** pwrite(4 KiB) + fsync, measured on the same disk just before the contestant started. */
  readonly fsyncP50Ms: number
}
