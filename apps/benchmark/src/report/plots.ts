import { CONNECTIONS, isOurs } from '../contestants.ts'
import { PERCENTILES, TOGETHER } from '../measurement.ts'
import { type Curve, commitCurves, latencyCurves, rateCurves } from './curves.ts'
import { drawPlot, type Plot, type Series } from './plot.ts'
import type { Results } from './results.ts'
import { formatNumber } from './statistics.ts'

function seriesOf({ contestant, points }: Curve): Series {
  const { title, name, engine } = contestant
  const look = isOurs(contestant) ? 'ours' : name === 'raw' ? 'raw' : 'fastify'
  return { title, look, isDashed: engine === 'postgres', points }
}

function draw(
  curves: readonly Curve[],
  ticks: readonly number[],
  axes: Pick<Plot, 'title' | 'xLabel' | 'yLabel' | 'yScale'>,
): string {
  const description = curves.map(({ contestant, points }) => {
    const values = points.map(({ median }, index) => `${formatNumber(median)} at ${ticks[index]}`)
    return `${contestant.title}: ${values.join(', ')}.`
  })
  return drawPlot({
    ...axes,
    description: `${axes.yLabel}, by ${axes.xLabel}. ${description.join(' ')}`,
    xTicks: ticks.map(String),
    series: curves.map(seriesOf),
  })
}

/** The plots of the page, by the names of their files. */
export function drawPlots(results: Results): Record<string, string> {
  return {
    'rate.svg': draw(rateCurves(results), CONNECTIONS, {
      title: 'Rate by number of connections',
      xLabel: 'connections, each with one request at a time',
      yLabel: 'creates per second',
      yScale: 'linear',
    }),
    'latency.svg': draw(latencyCurves(results, 64), PERCENTILES, {
      title: 'Latency by percentile, 64 connections',
      xLabel: 'percentile of the requests',
      yLabel: 'ms, logarithmic',
      yScale: 'log',
    }),
    'commit.svg': draw(commitCurves(results, 'usPerPlant'), TOGETHER, {
      title: 'Cost by commit size, the store without HTTP',
      xLabel: 'plants that arrive together; Plant Store shares commits between them',
      yLabel: 'µs for each plant, logarithmic',
      yScale: 'log',
    }),
  }
}
