import { hash } from 'node:crypto'
import type { Logger } from 'pino'
import { RequestError } from '../http/request-error.ts'
import type { AdmittedToken, Authenticate } from './authenticate.ts'
import { displayName } from './display-name.ts'
import { readJwtHeader } from './jwt-header.ts'
import type { KeyRing } from './key-ring.ts'
import type { Clocks } from './token-cache.ts'
import { createVerifiedJwts, type VerifiedJwt } from './verified-jwts.ts'
import { CLOCK_SKEW_SECONDS, type Claims, type JwtRules, verifyJwt } from './verify-jwt.ts'

export interface JwtParts {
  readonly rules: JwtRules
  readonly ring: KeyRing
  readonly clocks: Clocks
  readonly log: Logger
}

/** `jwt:` keeps a subject apart from an opaque token of that name. */
function nameCaller({ sub }: Claims): AdmittedToken {
  const id = `jwt_${hash('sha256', sub).slice(0, 32)}`
  return { id, name: `jwt:${displayName(sub)}` }
}

/** Refusing would be a lie: the token may be good. */
function cannotCheck(ring: KeyRing): RequestError {
  return new RequestError(
    'unavailable',
    'nothing was stored, try again: the token cannot be checked, for its issuer does not tell its keys',
    { headers: ['retry-after', String(ring.secondsToNextRead)] },
  )
}

/** Verifies a JWT with the keys that are known, and with newer ones where those do not know it. */
function createVerify({ rules, ring, clocks, log }: JwtParts) {
  const tellReason = (reason: object) => log.debug(reason, 'a JWT was refused')

  async function verifyOnce(credential: string, hasKid: boolean) {
    const { keys } = ring
    if (keys === undefined) return 'unknown_key'
    const given = { ...rules, hasKid, now: clocks.now() }
    const outcome = await verifyJwt(credential, keys, given, tellReason)
    if (typeof outcome === 'string') return outcome
    const expiresAt = (outcome.exp + CLOCK_SKEW_SECONDS) * 1000
    return { token: nameCaller(outcome), expiresAt, keys }
  }

  return async (credential: string, hasKid: boolean): Promise<VerifiedJwt | undefined> => {
    const { keys } = ring
    let outcome = await verifyOnce(credential, hasKid)
    if (outcome === 'unknown_key') {
      await ring.refresh()
      if (ring.keys !== keys) outcome = await verifyOnce(credential, hasKid)
    }
    if (outcome === 'unknown_key' && ring.failure !== undefined) throw cannotCheck(ring)
    return typeof outcome === 'string' ? undefined : outcome
  }
}

function digestOf(credential: string): string {
  return hash('sha256', credential, 'base64')
}

function admit({ token, expiresAt }: VerifiedJwt, now: number): AdmittedToken | undefined {
  return expiresAt > now ? token : undefined
}

/**
 * Checks JWTs with the keys of their issuer, remembering those that were good, by digest, until
 * they expire or the keys change.
 * It throws a RequestError `unavailable` where the keys that it would take cannot be read.
 */
export function createJwtAuthenticate(parts: JwtParts): Authenticate {
  const { rules, ring, clocks, log } = parts
  const verify = createVerify(parts)
  const verifiedJwts = createVerifiedJwts()
  // A connection's own verified credential, so that showing it again costs no digest.
  const remembered = new WeakMap<object, VerifiedJwt & { readonly credential: string }>()

  async function check(credential: string, connection: object, hasKid: boolean) {
    await ring.keepCurrent()
    const digest = digestOf(credential)
    const before = verifiedJwts.find(digest)
    const isCurrent = before !== undefined && before.keys === ring.keys
    const verified = isCurrent ? before : await verify(credential, hasKid)
    if (verified === undefined) return undefined
    if (verified !== before) verifiedJwts.add(digest, verified)
    remembered.set(connection, { ...verified, credential })
    return admit(verified, clocks.now())
  }

  function authenticate(credential: string, connection: object) {
    const before = remembered.get(connection)
    if (before?.credential === credential && before.keys === ring.keys) {
      if (ring.keepCurrent() === undefined) return admit(before, clocks.now())
    }
    const header = readJwtHeader(credential, rules.algorithms)
    if (header !== undefined) return check(credential, connection, header.kid !== undefined)
    log.debug('a credential is no JWT, or its header is refused')
    return undefined
  }

  return Object.assign(authenticate, {
    isKnown: (credential: string) => verifiedJwts.find(digestOf(credential)) !== undefined,
  })
}
