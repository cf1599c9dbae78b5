import type { Metrics } from '../telemetry/metrics/metrics.ts'

/** The same metrics, which also note each reply outcome_unknown. */
export function notingUnknownOutcomes(
  metrics: Metrics | undefined,
  note: () => void,
): Metrics | undefined {
  if (metrics === undefined) return undefined
  const { requests } = metrics
  return {
    ...metrics,
    requests: {
      ...requests,
      answered(outcome, status, durationMs) {
        requests.answered(outcome, status, durationMs)
        if (outcome === 'outcome_unknown') note()
      },
    },
  }
}
