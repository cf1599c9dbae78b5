import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Measured } from '../metrics/measured.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { History } from './history.ts'
import { LAG_MAX, LAG_P99, PLOTTED, READ_FIRST } from './shown.ts'

/** How far apart the samples are. */
export const SAMPLE_MS = 10_000

/** The values of some metrics, as `/metrics` would show them now; of those that nobody made, none. */
export async function readMetrics(
  metrics: Pick<Metrics, 'read'>,
  names: readonly string[],
): Promise<Measured[]> {
  const read = await Promise.all(names.map((name) => metrics.read(name)))
  return read.flat()
}

/** The time to a refusal says little, and would be one more series for each status. */
function isShown({ labels }: Measured): boolean {
  return labels.status === undefined || labels.status === '200'
}

type Lag = ReturnType<typeof monitorEventLoopDelay>

/** The same as the metrics of these names, since the last sample. */
function readLag(lag: Lag): Measured[] {
  const isEmpty = lag.count === 0
  const measured = [
    { name: LAG_P99, labels: {}, value: isEmpty ? Number.NaN : lag.percentile(99) / 1e9 },
    { name: LAG_MAX, labels: {}, value: isEmpty ? Number.NaN : lag.max / 1e9 },
  ]
  lag.reset()
  return measured
}

const NAMES = Object.keys(PLOTTED)

/** Adds what the metrics are now to a history: half a millisecond of CPU time. */
export async function takeSample(
  metrics: Pick<Metrics, 'read'>,
  lag: Lag,
  history: History,
): Promise<void> {
  const time = Date.now()
  const delays = readLag(lag)
  await readMetrics(metrics, READ_FIRST)
  const measured = await readMetrics(metrics, NAMES)
  history.add(time, [...measured.filter(isShown), ...delays])
}

/**
 * Samples the metrics every ten seconds, and once at the start, until `isOver` returns true. Only
 * what was counted is kept: rates and percentiles are made of it when somebody looks.
 */
export function startSampler(metrics: Pick<Metrics, 'read'>, isOver: () => boolean): History {
  const history = new History()
  const lag = monitorEventLoopDelay()
  lag.enable()

  const timer = setInterval(() => {
    if (!isOver()) return void takeSample(metrics, lag, history)
    clearInterval(timer)
    lag.disable()
  }, SAMPLE_MS).unref()
  void takeSample(metrics, lag, history)
  return history
}
