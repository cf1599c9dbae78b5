import { Counter, type Registry } from '@prometheus-io/client'
import { type LimiterObserver, refusalReasons } from '../../limits/refusals.ts'

export function addLimiterMetrics(registers: Registry[]): LimiterObserver {
  const actions = new Counter({
    name: 'plant_store_limiter_actions_total',
    help: 'Requests or connections that a limit refused, by the limit.',
    labelNames: ['limiter'],
    registers,
  })
  for (const limiter of refusalReasons) actions.inc({ limiter }, 0)
  return { acted: (limiter) => actions.inc({ limiter }) }
}
