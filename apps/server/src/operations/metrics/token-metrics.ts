import { Counter, Gauge, type Registry } from '@prometheus-io/client'
import type { TokenCacheObserver } from '../../auth/token-cache.ts'

/** Counts look-ups of opaque tokens, by whether the token was remembered. */
export function createTokenCacheObserver(registers: Registry[]): TokenCacheObserver {
  const lookups = new Counter({
    name: 'plant_store_token_cache_lookups_total',
    help: 'Look-ups of well-formed tokens: hit, or miss where the store was asked.',
    labelNames: ['result'],
    registers,
  })
  let rememberedTokens = 0
  new Gauge({
    name: 'plant_store_token_cache_tokens',
    help: 'Tokens that are remembered.',
    registers,
    collect() {
      this.set(rememberedTokens)
    },
  })
  for (const result of ['hit', 'miss']) lookups.inc({ result }, 0)
  const hits = lookups.labels('hit')
  const misses = lookups.labels('miss')
  return {
    hit: () => hits.inc(),
    missed(remembered) {
      misses.inc()
      rememberedTokens = remembered
    },
  }
}
