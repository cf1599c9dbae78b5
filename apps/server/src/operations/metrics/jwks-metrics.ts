import { Counter, type Registry } from '@prometheus-io/client'
import type { JwksObserver } from '../../auth/key-ring.ts'

export function addJwksMetrics(registers: Registry[]): JwksObserver {
  const fetches = new Counter({
    name: 'plant_store_jwks_fetches_total',
    help: "Fetches of the token issuer's keys, by how they ended: ok or failed.",
    labelNames: ['result'],
    registers,
  })
  for (const result of ['ok', 'failed']) fetches.inc({ result }, 0)
  return { fetched: (isGood) => fetches.inc({ result: isGood ? 'ok' : 'failed' }) }
}
