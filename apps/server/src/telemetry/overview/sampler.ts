import { LAG_MAX, LAG_P99, type Measured } from '../metrics/measured.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { History } from './history.ts'
import { PLOTTED, READ_FIRST } from './shown.ts'

/** How far apart the samples are. */
export const SAMPLE_MS = 10_000

/** The time to a refusal says little, and would be one more series for each status. */
function isShown({ name, labels }: Measured): boolean {
  if (READ_FIRST.includes(name)) return false
  return labels.status === undefined || labels.status === '200'
}

const NAMES = [...READ_FIRST, ...Object.keys(PLOTTED), LAG_P99, LAG_MAX]

/** Of what the first sample cannot know: gaps, by which the page sees that it is measured. */
const GAPS = [LAG_P99, LAG_MAX].map((name) => ({ name, labels: {}, value: Number.NaN }))

/** Adds what the metrics are now to a history: half a millisecond of CPU time. */
export async function takeSample(metrics: Pick<Metrics, 'read'>, history: History): Promise<void> {
  const time = Date.now()
  const measured = await metrics.read(NAMES)
  const gaps = GAPS.filter((gap) => !measured.some(({ name }) => name === gap.name))
  history.add(time, [...measured.filter(isShown), ...gaps])
}

/**
 * Samples the metrics every ten seconds, and once at the start, until `isOver` returns true. Only
 * what was counted is kept: rates and percentiles are made of it when somebody looks.
 */
export function startSampler(metrics: Pick<Metrics, 'read'>, isOver: () => boolean): History {
  const history = new History()
  const timer = setInterval(() => {
    if (!isOver()) return void takeSample(metrics, history)
    clearInterval(timer)
  }, SAMPLE_MS).unref()
  void takeSample(metrics, history)
  return history
}
