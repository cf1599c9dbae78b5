import { type MetricObjectWithValues, type MetricValue, Registry } from '@prometheus-io/client'

/** A metric with its values, as the registry gives it; structured-cloneable. */
export type Reading = MetricObjectWithValues<MetricValue<string>>

/** What one event loop has measured. */
export interface MetricsSnapshot {
  /** Another one for each life of a loop. */
  readonly life: string
  readonly readings: readonly Reading[]
}

/**
 * Reads all loops besides this one: a snapshot for each, in the same order every time, and undefined
 * for one that is not there or did not reply within a second. With names, only these metrics.
 */
export type ReadLoops = (
  names: readonly string[] | undefined,
) => Promise<readonly (MetricsSnapshot | undefined)[]>

/** One value for each metric and its labels, made of those of several loops as the metric's aggregator says. */
export function combine(several: readonly (readonly Reading[])[]): Registry {
  return Registry.aggregate(several as Reading[][])
}

/** What Registry.aggregate registers has its values. */
export function readingsIn(registry: Registry): readonly Reading[] {
  return registry.getMetricsAsArray() as Reading[]
}

function isKept({ type }: Reading): boolean {
  return type === 'counter' || type === 'histogram'
}

/** Counters of one life of a loop, as they were last seen. */
interface Life {
  readonly life: string
  readonly counters: Map<string, Reading>
}

/**
 * Keeps the counters of loops that are dead or late as they were last seen, because a counter that
 * falls reads as a restart. Their gauges are left out.
 */
export function keepCounters(readLoops: ReadLoops) {
  const lives: (Life | undefined)[] = []
  /** The counters of all lives that are over. */
  let past: readonly Reading[] = []

  function note(index: number, { life, readings }: MetricsSnapshot): void {
    let known = lives[index]
    if (known?.life !== life) {
      if (known !== undefined) past = readingsIn(combine([past, [...known.counters.values()]]))
      known = { life, counters: new Map() }
      lives[index] = known
    }
    for (const reading of readings) if (isKept(reading)) known.counters.set(reading.name, reading)
  }

  return async (names?: readonly string[]): Promise<readonly (readonly Reading[])[]> => {
    const wanted = (reading: Reading) => names?.includes(reading.name) !== false
    const snapshots = await readLoops(names)
    const present = snapshots.map((snapshot, index) => {
      if (snapshot !== undefined) note(index, snapshot)
      return snapshot?.readings ?? [...(lives[index]?.counters.values() ?? [])].filter(wanted)
    })
    return [...present, past.filter(wanted)]
  }
}
