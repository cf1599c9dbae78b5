import { Counter, Gauge, type Registry } from '@prometheus-io/client'
import type { JwksObserver } from '../../auth/key-ring.ts'

export function addJwksMetrics(registers: Registry[]): JwksObserver {
  const fetches = new Counter({
    name: 'plant_store_jwks_fetches_total',
    help: "Fetches of the token issuer's keys, by how they ended: ok or failed.",
    labelNames: ['result'],
    registers,
  })
  for (const result of ['ok', 'failed']) fetches.inc({ result }, 0)
  const fetchedAt = new Gauge({
    name: 'plant_store_jwks_last_fetch_timestamp_seconds',
    help: "When the token issuer's keys were last fetched, in Unix time; 0 for never.",
    registers,
  })
  return {
    fetched(isGood) {
      fetches.inc({ result: isGood ? 'ok' : 'failed' })
      if (isGood) fetchedAt.setToCurrentTime()
    },
  }
}
