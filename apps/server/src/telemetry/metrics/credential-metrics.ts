import { Counter, Gauge, type Registry } from '@prometheus-io/client'
import type { JwksObserver } from '../../auth/key-ring.ts'
import type { TokenCacheObserver } from '../../auth/token-cache.ts'
import { createTally } from './tallies.ts'

/** Counts look-ups of opaque tokens, by whether the server remembered the token. */
export function createTokenCacheObserver(registers: Registry[]): TokenCacheObserver {
  const count = createTally('result', ['hit', 'miss'], {
    name: 'plant_store_token_cache_lookups_total',
    help: 'Look-ups of well-formed tokens: hit where the server remembered the token, miss where it asked the store.',
    registers,
  })
  let rememberedTokens = 0
  new Gauge({
    name: 'plant_store_token_cache_tokens',
    help: 'Tokens that the server remembers.',
    registers,
    collect() {
      this.set(rememberedTokens)
    },
  })
  return {
    hit: () => count('hit'),
    missed(remembered) {
      count('miss')
      rememberedTokens = remembered
    },
  }
}

/** Counts and dates fetches of an issuer's keys. */
export function createJwksObserver(registers: Registry[]): JwksObserver {
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
