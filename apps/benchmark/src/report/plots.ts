import { CONNECTIONS, isOurs } from '../contestants.ts'
import { PERCENTILES, TOGETHER } from '../measurement.ts'
import { type Curve, commitCurves, latencyCurves, rateCurves } from './curves.ts'
import { drawEndurance } from './endurance.ts'
import { drawGrowth } from './growth.ts'
import { drawPlot, type Plot, type Series } from './plot.ts'
import type { Results } from './results.ts'

function seriesOf({ contestant, points }: Curve): Series {
  const { title, name, engine } = contestant
  const look = isOurs(contestant) ? 'green' : name === 'raw' ? 'brown' : 'blue'
  return { title, look, isDashed: engine === 'postgres', points }
}

function draw(
  curves: readonly Curve[],
  ticks: readonly number[],
  axes: Pick<Plot, 'title' | 'xLabel' | 'yLabel' | 'yScale'>,
): string {
  return drawPlot({ ...axes, xTicks: ticks.map(String), series: curves.map(seriesOf) })
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
    ...(results.parts.endurance && { 'endurance.svg': drawEndurance(results.parts.endurance) }),
    ...(results.parts.growth && { 'growth.svg': drawGrowth(results.parts.growth) }),
  }
}
