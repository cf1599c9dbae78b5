import { CONNECTIONS, type Contestant, plotted } from '../contestants.ts'
import { type ContestIds, PERCENTILES, TOGETHER } from '../measurement.ts'
import type { Results } from './results.ts'
import { type Summary, summarise } from './statistics.ts'

/** One contestant over the ticks of a plot; the same points are in a table. */
export interface Curve {
  readonly contestant: Contestant
  readonly points: readonly Summary[]
}

/** The rounds of one contestant with one load, in order. */
export function roundsOf(
  { measurements }: Results,
  name: string,
  connections: number,
  ids: ContestIds = 'random',
) {
  return measurements.filter(
    (one) => one.contestant === name && one.connections === connections && one.ids === ids,
  )
}

/** The values of each round, for each contestant of the plots and each tick. */
function curvesOf<Tick>(
  ticks: readonly Tick[],
  valuesOf: (name: string, tick: Tick, index: number) => readonly number[],
): Curve[] {
  const curves = plotted.map((contestant) => ({
    contestant,
    points: ticks.map((tick, index) => summarise(valuesOf(contestant.name, tick, index))),
  }))
  return curves.filter(({ points }) => points.some(({ median }) => !Number.isNaN(median)))
}

/** Creates per second at each of CONNECTIONS. */
export function rateCurves(results: Results): Curve[] {
  return curvesOf(CONNECTIONS, (name, connections) =>
    roundsOf(results, name, connections).map((one) => one.createsPerSecond),
  )
}

/** Milliseconds at each of PERCENTILES. */
export function latencyCurves(results: Results, connections: number): Curve[] {
  return curvesOf(PERCENTILES, (name, _, index) =>
    roundsOf(results, name, connections).map((one) => one.latenciesMs[index] ?? Number.NaN),
  )
}

/** Microseconds for each plant, or plants in each commit, at each of TOGETHER. */
export function commitCurves(
  { commits }: Results,
  value: 'usPerPlant' | 'plantsPerCommit',
): Curve[] {
  return curvesOf(TOGETHER, (name, together) =>
    commits
      .filter((one) => one.contestant === name && one.together === together)
      .map((one) => one[value]),
  )
}
