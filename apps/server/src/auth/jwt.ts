import { hash } from 'node:crypto'
import type { Logger } from 'pino'
import { RequestError, retryAfter } from '../http/request-error.ts'
import { displayName } from '../text/display-name.ts'
import type { AdmittedToken, Authenticate } from './authenticate.ts'
import { createGate } from './gate.ts'
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
  /** Requests that may be in flight; those that wait here are a small part of them. */
  readonly requestLimit: number
}

/** libuv has four threads, which also read files and resolve host names. */
const VERIFIED_AT_A_TIME = 2

/** They wait for a fraction of a second. */
const MOST_WAITING_FOR_TURN = 512

/** They wait until the issuer answers, or its time is over. */
const MOST_WAITING_FOR_KEYS = 64

/** A JWT with an acceptable header. */
interface UncheckedJwt {
  readonly credential: string
  readonly hasKid: boolean
  /** The result of its last check, if it was good. */
  readonly before?: VerifiedJwt
  /** May end the check, by an exception, before a signature is verified. */
  readonly beforeCost?: (() => void) | undefined
}

/** `jwt:` distinguishes a subject from an opaque token with the same name. */
function nameCaller({ sub }: Claims): AdmittedToken {
  const id = `jwt_${hash('sha256', sub).slice(0, 32)}`
  return { id, name: `jwt:${displayName(sub)}` }
}

/** Not `invalid_token`, because the token may be good. */
function cannotCheck(reason: string, retryAfterSeconds?: number, cause?: Error): RequestError {
  return new RequestError(
    'unavailable',
    `nothing was stored, try again: the token cannot be checked, for ${reason}`,
    { headers: retryAfter(retryAfterSeconds), cause },
  )
}

/** Where JWTs wait, for two reasons: for each at most an eighth of the requests in flight. */
function createGates(ring: KeyRing, requestLimit: number) {
  const most = (waiting: number) => Math.max(1, Math.min(waiting, Math.floor(requestLimit / 8)))
  return {
    waitForKeys: createGate({ running: most(MOST_WAITING_FOR_KEYS), waiting: 0 }, () =>
      cannotCheck('too many wait for the keys of its issuer', ring.secondsToNextRead),
    ),
    verifyInTurn: createGate(
      { running: VERIFIED_AT_A_TIME, waiting: most(MOST_WAITING_FOR_TURN) },
      () => cannotCheck('too many wait for their check'),
    ),
  }
}

/** Verifies a JWT with the known keys, and with newer ones if these are due or none of them fits. */
function createVerify({ rules, ring, clocks, log, requestLimit }: JwtParts) {
  const { waitForKeys, verifyInTurn } = createGates(ring, requestLimit)
  const reportReason = (reason: object) => log.debug(reason, 'a JWT was refused')

  async function verifyOnce({ credential, hasKid, beforeCost }: UncheckedJwt) {
    beforeCost?.()
    const { keys } = ring
    if (keys === undefined) return 'unknown_key'
    const given = { ...rules, hasKid, now: clocks.now() }
    const outcome = await verifyJwt(credential, keys, given, reportReason)
    if (typeof outcome === 'string') return outcome
    const expiresAt = (outcome.exp + CLOCK_SKEW_SECONDS) * 1000
    return { token: nameCaller(outcome), expiresAt, keys }
  }

  return async (jwt: UncheckedJwt): Promise<VerifiedJwt | undefined> => {
    const { keys } = ring
    const due = ring.keepCurrent()
    const isVerified = jwt.before !== undefined && jwt.before.keys === keys
    let outcome = isVerified ? jwt.before : await verifyInTurn(() => verifyOnce(jwt))
    const read = outcome === 'unknown_key' ? ring.refresh() : due
    if (read !== undefined) {
      // Good JWTs wait outside the gate: only the issuer can make them. Others may come in any number.
      await (typeof outcome === 'string' ? waitForKeys(() => read) : read)
      if (ring.keys !== keys) outcome = await verifyInTurn(() => verifyOnce(jwt))
    }
    if (outcome === 'unknown_key' && ring.failure !== undefined) {
      throw cannotCheck(
        'the keys of its issuer cannot be read',
        ring.secondsToNextRead,
        new Error(ring.failure),
      )
    }
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
 * Checks JWTs with the keys of their issuer. Good ones are remembered by digest until they expire or
 * the keys change.
 * The check throws a RequestError `unavailable` if the keys that it needs cannot be read.
 */
export function createJwtAuthenticate(parts: JwtParts): Authenticate {
  const { rules, ring, clocks, log } = parts
  const verify = createVerify(parts)
  const verifiedJwts = createVerifiedJwts()
  // The verified credential of each connection: showing it again costs no digest.
  const remembered = new WeakMap<object, VerifiedJwt & { readonly credential: string }>()

  async function check(connection: object, { credential, hasKid, beforeCost }: UncheckedJwt) {
    const digest = digestOf(credential)
    const before = verifiedJwts.find(digest)
    const verified = await verify(
      before === undefined ? { credential, hasKid, beforeCost } : { credential, hasKid, before },
    )
    if (verified === undefined) {
      // Withdrawn: from now on like a JWT that was never good.
      verifiedJwts.forget(digest)
      return undefined
    }
    if (verified !== before) verifiedJwts.add(digest, verified)
    remembered.set(connection, { ...verified, credential })
    return admit(verified, clocks.now())
  }

  function authenticate(credential: string, connection: object, beforeCost?: () => void) {
    const before = remembered.get(connection)
    if (before?.credential === credential && before.keys === ring.keys) {
      if (ring.keepCurrent() === undefined) return admit(before, clocks.now())
    }
    const header = readJwtHeader(credential, rules)
    if (header !== undefined) {
      return check(connection, { credential, hasKid: header.kid !== undefined, beforeCost })
    }
    log.debug('a credential is no JWT, or its header is refused')
    return undefined
  }

  return Object.assign(authenticate, {
    isKnown: (credential: string) => verifiedJwts.find(digestOf(credential)) !== undefined,
  })
}
