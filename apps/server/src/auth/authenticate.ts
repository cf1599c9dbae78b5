import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type Config, ConfigError } from '../config/config.ts'
import { environmentNameOf } from '../config/settings.ts'
import type { TokenStore } from '../store/store.ts'
import type { Authenticate } from './bearer.ts'
import type { JwksObserver } from './key-ring.ts'
import { keysFromFile, keysFromUrl } from './key-source.ts'
import {
  type Clocks,
  createAuthenticate,
  systemClocks,
  type TokenCacheObserver,
} from './token-cache.ts'
import { OPAQUE_PREFIX } from './tokens.ts'

export interface AuthenticateParts {
  readonly log: Logger
  /** Aborts a fetch of keys. */
  readonly stop: AbortSignal
  /** Default: those of the system. */
  readonly clocks?: Clocks | undefined
  readonly observer?:
    | { readonly tokenCache: TokenCacheObserver; readonly jwks: JwksObserver }
    | undefined
}

/** How long the start waits for the keys of an issuer. */
const START_WAIT_MS = 1_000

/** Whether JWTs of an issuer are accepted. */
export function takesJwt({ jwksUrl, jwksFile }: Pick<Config, 'jwksUrl' | 'jwksFile'>): boolean {
  return jwksUrl !== undefined || jwksFile !== undefined
}

/**
 * The check of credentials that the settings ask for: opaque tokens, and maybe JWTs.
 * An issuer that cannot be reached is no error: opaque tokens are accepted meanwhile.
 * @throws ConfigError for a JWKS file without a usable key, which waiting would not fix.
 */
export async function openAuthenticate(
  tokens: TokenStore,
  config: Config,
  { log, stop, clocks = systemClocks, observer }: AuthenticateParts,
): Promise<Authenticate> {
  const opaque = createAuthenticate(tokens, clocks, observer?.tokenCache)
  const { jwksUrl, jwksFile, jwtIssuer: issuer, jwtAudience: audience, requestLimit } = config
  const fromUrl = jwksUrl === undefined ? undefined : keysFromUrl(jwksUrl, { stop })
  const source = jwksFile === undefined ? fromUrl : keysFromFile(jwksFile)
  if (source === undefined || issuer === undefined || audience === undefined) return opaque
  // Loaded only here, because most servers need no jose.
  const [{ createJwtAuthenticate }, { KeyRing }] = await Promise.all([
    import('./jwt.ts'),
    import('./key-ring.ts'),
  ])
  const ring = new KeyRing({ source, clocks, log, observer: observer?.jwks })
  const firstRead = ring.refresh()
  // The first requests find keys if the issuer answers, and the server starts even if it does not.
  await Promise.race([firstRead, sleep(START_WAIT_MS, undefined, { ref: false })])
  if (jwksFile !== undefined) {
    await firstRead
    if (!ring.keys?.usable.length) {
      const problem = ring.failure ?? 'it has no key that can check a JWT'
      throw new ConfigError([`${environmentNameOf('jwksFile')}: ${jwksFile}: ${problem}`])
    }
  }
  const rules = { issuer, audience }
  const jwt = createJwtAuthenticate({ rules, ring, clocks, log, requestLimit })
  const checkOf = (credential: string) => (credential.startsWith(OPAQUE_PREFIX) ? opaque : jwt)
  return Object.assign((...check: Parameters<Authenticate>) => checkOf(check[0])(...check), {
    isKnown: (credential: string) => checkOf(credential).isKnown(credential),
  })
}
