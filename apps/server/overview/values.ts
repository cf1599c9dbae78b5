import type { OverviewReply } from '../src/telemetry/overview/reply.ts'

/** The values of one metric by what its labels say; '' where it has none. */
export function valuesOf({ facts }: OverviewReply, metric: string): Map<string, number> {
  const found = facts.filter(({ name }) => name === metric)
  return new Map(found.map(({ labels, value }) => [Object.values(labels).join(), value]))
}

/** The value of a metric without labels; undefined where it is not measured, or never happened. */
export function numberOf(reply: OverviewReply, metric: string): number | undefined {
  return valuesOf(reply, metric).get('') || undefined
}
