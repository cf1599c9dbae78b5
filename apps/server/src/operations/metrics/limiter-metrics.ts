import { Counter, type Registry } from '@prometheus-io/client'

/** Every limit that refuses work because there is too much of it. */
export const LIMITERS = [
  'failed_credentials',
  'token_rate',
  'connections',
  'in_flight',
  'pressure',
] as const

export type Limiter = (typeof LIMITERS)[number]

/** Is told whenever a limit refused something. */
export interface LimiterObserver {
  acted(limiter: Limiter): void
}

export function addLimiterMetrics(registers: Registry[]): LimiterObserver {
  const actions = new Counter({
    name: 'plant_store_limiter_actions_total',
    help: 'Requests or connections that a limit refused, by the limit.',
    labelNames: ['limiter'],
    registers,
  })
  for (const limiter of LIMITERS) actions.inc({ limiter }, 0)
  return { acted: (limiter) => actions.inc({ limiter }) }
}
