import type { Logger } from 'pino'
import { type Config, ConfigError } from '../config.ts'
import { environmentNameOf } from '../settings.ts'
import type { TokenStore } from '../store/store.ts'
import { type Authenticate, createAuthenticate, systemClocks } from './authenticate.ts'
import type { JwksObserver } from './key-ring.ts'
import { type KeySource, keysFromFile, keysFromUrl } from './key-source.ts'
import { OPAQUE_PREFIX } from './opaque-token.ts'
import type { Clocks } from './token-cache.ts'
import type { TokenCacheObserver } from './token-cache-observer.ts'

export type JwtConfig = Pick<
  Config,
  'jwksUrl' | 'jwksFile' | 'jwtIssuer' | 'jwtAudience' | 'jwtAlgorithms'
>

export interface AuthenticateParts {
  readonly log: Logger
  /** Ends a fetch of keys that is on its way. */
  readonly stop: AbortSignal
  readonly clocks?: Clocks
  readonly observer?: AuthenticateObserver | undefined
}

/** Is told of what the check of credentials costs, for whoever measures. */
export interface AuthenticateObserver {
  readonly tokenCache: TokenCacheObserver
  readonly jwks: JwksObserver
}

/** Whether an issuer's JWTs open the service. */
export function takesJwt({ jwksUrl, jwksFile }: JwtConfig): boolean {
  return jwksUrl !== undefined || jwksFile !== undefined
}

/** Where the settings have the keys of JWTs; undefined where they have none. */
export function keySourceOf(
  { jwksUrl, jwksFile }: JwtConfig,
  stop: AbortSignal,
): KeySource | undefined {
  if (jwksFile !== undefined) return keysFromFile(jwksFile)
  return jwksUrl === undefined ? undefined : keysFromUrl(jwksUrl, { stop })
}

/**
 * The check of credentials that the settings ask for: opaque tokens, and JWTs beside them.
 * An issuer that cannot be reached is no error: opaque tokens are served meanwhile.
 * @throws ConfigError for a JWKS file without a usable key, which waiting would not mend.
 */
export async function openAuthenticate(
  tokens: TokenStore,
  config: JwtConfig,
  { log, stop, clocks = systemClocks, observer }: AuthenticateParts,
): Promise<Authenticate> {
  const opaque = createAuthenticate(tokens, clocks, observer?.tokenCache)
  const source = keySourceOf(config, stop)
  const { jwtIssuer: issuer, jwtAudience: audience, jwtAlgorithms: algorithms } = config
  if (source === undefined || issuer === undefined || audience === undefined) return opaque
  // Loaded here, because most servers need no jose.
  const [{ createJwtAuthenticate }, { KeyRing }] = await Promise.all([
    import('./jwt.ts'),
    import('./key-ring.ts'),
  ])
  const ring = new KeyRing({ source, algorithms, clocks, log, observer: observer?.jwks })
  const firstRead = ring.refresh()
  if (config.jwksFile !== undefined) {
    await firstRead
    if (!ring.keys?.usable.length) {
      const problem = ring.failure ?? `it has no key for ${algorithms}`
      throw new ConfigError([`${environmentNameOf('jwksFile')}: ${config.jwksFile}: ${problem}`])
    }
  }
  const jwt = createJwtAuthenticate({ rules: { issuer, audience, algorithms }, ring, clocks, log })
  const checkOf = (credential: string) => (credential.startsWith(OPAQUE_PREFIX) ? opaque : jwt)
  return Object.assign(
    (credential: string, connection: object) => checkOf(credential)(credential, connection),
    { isKnown: (credential: string) => checkOf(credential).isKnown(credential) },
  )
}
