import { CONNECTIONS, isOurs } from '../contestants.ts'
import { PERCENTILES, TOGETHER } from '../measurement.ts'
import { type Curve, costCurves, latencyCurves, rateCurves } from './curves.ts'
import { drawPlot, type Plot, type Series } from './plot.ts'
import type { Results } from './results.ts'
import { formatNumber } from './statistics.ts'

/** The number of connections at which everybody is measured. */
export const LOADED = 64

function seriesOf({ contestant, points }: Curve): Series {
  const { title, name, engine } = contestant
  const look = isOurs(contestant) ? 'ours' : name === 'raw' ? 'raw' : 'fastify'
  return { title, look, isDashed: engine === 'postgres', points }
}

function describe(curves: readonly Curve[], ticks: readonly unknown[], unit: string): string {
  return curves
    .map(({ contestant, points }) => {
      const values = points.map(({ median }, index) => `${formatNumber(median)} at ${ticks[index]}`)
      return `${contestant.title}, ${unit}: ${values.join(', ')}.`
    })
    .join(' ')
}

type Axes = Pick<Plot, 'title' | 'xLabel' | 'yLabel' | 'yScale'>

function draw(axes: Axes, ticks: readonly unknown[], curves: readonly Curve[]): string {
  return drawPlot({
    ...axes,
    description: describe(curves, ticks, axes.yLabel),
    xTicks: ticks.map(String),
    series: curves.map(seriesOf),
  })
}

/** The plots of the page, by the names of their files. */
export function drawPlots(results: Results): Record<string, string> {
  return {
    'rate.svg': draw(
      {
        title: 'Rate by number of connections',
        xLabel: 'connections, each with one request at a time',
        yLabel: 'creates per second',
        yScale: 'linear',
      },
      CONNECTIONS,
      rateCurves(results),
    ),
    'latency.svg': draw(
      {
        title: `Latency by percentile, ${LOADED} connections`,
        xLabel: 'percentile of the requests',
        yLabel: 'latency in ms, logarithmic',
        yScale: 'log',
      },
      PERCENTILES,
      latencyCurves(results, LOADED),
    ),
    'commit.svg': draw(
      {
        title: 'Cost by commit size, the store without HTTP',
        xLabel: 'plants that arrive together',
        yLabel: 'µs for each plant, logarithmic',
        yScale: 'log',
      },
      TOGETHER,
      costCurves(results),
    ),
  }
}
