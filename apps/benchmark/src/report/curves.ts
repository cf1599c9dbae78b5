import { CONNECTIONS, type Contestant, plotted } from '../contestants.ts'
import { PERCENTILES, TOGETHER } from '../measurement.ts'
import type { Results } from './results.ts'
import { type Summary, summarise } from './statistics.ts'

/** One contestant over the ticks of a plot; the same points stand in a table. */
export interface Curve {
  readonly contestant: Contestant
  readonly points: readonly Summary[]
}

/** The rounds of one contestant at one number of connections. */
export function roundsOf({ measurements }: Results, { name }: Contestant, connections: number) {
  return measurements.filter((one) => one.contestant === name && one.connections === connections)
}

function curvesOf(pointsOf: (contestant: Contestant) => Summary[]): Curve[] {
  const curves = plotted.map((contestant) => ({ contestant, points: pointsOf(contestant) }))
  return curves.filter(({ points }) => points.some(({ median }) => !Number.isNaN(median)))
}

/** Creates per second at each of CONNECTIONS. */
export function rateCurves(results: Results): Curve[] {
  return curvesOf((contestant) =>
    CONNECTIONS.map((connections) =>
      summarise(roundsOf(results, contestant, connections).map((one) => one.createsPerSecond)),
    ),
  )
}

/** Milliseconds at each of PERCENTILES. */
export function latencyCurves(results: Results, connections: number): Curve[] {
  return curvesOf((contestant) =>
    PERCENTILES.map((_, index) =>
      summarise(
        roundsOf(results, contestant, connections).map(
          ({ latenciesMs }) => latenciesMs[index] ?? Number.NaN,
        ),
      ),
    ),
  )
}

function commitCurves({ commits }: Results, value: 'usPerPlant' | 'plantsPerCommit'): Curve[] {
  return curvesOf(({ name }) =>
    TOGETHER.map((together) =>
      summarise(
        commits
          .filter((one) => one.contestant === name && one.together === together)
          .map((one) => one[value]),
      ),
    ),
  )
}

/** Microseconds a plant, at each of TOGETHER. */
export const costCurves = (results: Results) => commitCurves(results, 'usPerPlant')

/** Plants in a commit, at each of TOGETHER. */
export const sizeCurves = (results: Results) => commitCurves(results, 'plantsPerCommit')
