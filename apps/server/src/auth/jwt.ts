import { hash } from 'node:crypto'
import type { Logger } from 'pino'
import { RequestError, retryAfter } from '../http/request-error.ts'
import { displayName } from '../text/display-name.ts'
import type { AdmittedToken, Authenticate } from './bearer.ts'
import {
  CLOCK_SKEW_SECONDS,
  type Claims,
  type JwtRules,
  readJwtHeader,
  verifyJwt,
} from './jwt-verify.ts'
import type { KeyRing } from './key-ring.ts'
import type { KeySet } from './key-set.ts'
import type { Clocks } from './token-cache.ts'

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

/** Verified JWTs that are remembered, in about 3 MB. */
const MOST_REMEMBERED = 10_000

/** A JWT that was verified. */
interface VerifiedJwt {
  readonly token: AdmittedToken
  /** Unix ms, with the clock skew added. */
  readonly expiresAt: number
  /** The keys that it was verified with; with other keys it must be verified again. */
  readonly keys: KeySet
}

/** A JWT with an acceptable header. */
interface UncheckedJwt {
  readonly credential: string
  readonly hasKid: boolean
  /** The result of its last check, if it was good. */
  readonly before: VerifiedJwt | undefined
  /** May end the check, by an exception, before a signature is verified. */
  readonly beforeCost?: (() => void) | undefined
}

/**
 * Bounds how much of a kind of work runs and how much waits at a time. Runs work when its turn comes,
 * in the order of arrival.
 * @throws the error of `refusal` if too many wait already; the work is not begun.
 */
function createGate(
  limits: { readonly running: number; readonly waiting: number },
  refusal: () => RequestError,
) {
  let running = 0
  const waiting: (() => void)[] = []

  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (running < limits.running) running++
    else if (waiting.length >= limits.waiting) throw refusal()
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running--
      else next()
    }
  }
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
      const cause = new Error(ring.failure)
      throw cannotCheck('the keys of its issuer cannot be read', ring.secondsToNextRead, cause)
    }
    return typeof outcome === 'string' ? undefined : outcome
  }
}

/**
 * Checks JWTs with the keys of their issuer. Good ones are remembered by digest until they expire or
 * the keys change.
 * The check throws a RequestError `unavailable` if the keys that it needs cannot be read.
 */
export function createJwtAuthenticate(parts: JwtParts): Authenticate {
  const { ring, clocks, log } = parts
  const verify = createVerify(parts)
  const remembered = new Map<string, VerifiedJwt>()

  const digestOf = (credential: string) => hash('sha256', credential, 'base64')

  const admit = ({ token, expiresAt }: VerifiedJwt): AdmittedToken | undefined =>
    expiresAt > clocks.now() ? token : undefined

  async function check(digest: string, jwt: UncheckedJwt): Promise<AdmittedToken | undefined> {
    const verified = await verify(jwt)
    // Withdrawn: from now on like a JWT that was never good.
    remembered.delete(digest)
    if (verified === undefined) return undefined
    remembered.set(digest, verified)
    const [oldest = ''] = remembered.size > MOST_REMEMBERED ? remembered.keys() : []
    remembered.delete(oldest)
    return admit(verified)
  }

  function authenticate(credential: string, _connection: object, beforeCost?: () => void) {
    const digest = digestOf(credential)
    const before = remembered.get(digest)
    if (before !== undefined && before.keys === ring.keys && ring.keepCurrent() === undefined) {
      return admit(before)
    }
    const header = readJwtHeader(credential)
    if (header === undefined) {
      log.debug('a credential is no JWT, or its header is refused')
      return undefined
    }
    const unchecked = { credential, hasKid: header.kid !== undefined, before }
    return check(digest, before === undefined ? { ...unchecked, beforeCost } : unchecked)
  }

  return Object.assign(authenticate, {
    isKnown: (credential: string) => remembered.has(digestOf(credential)),
  })
}
