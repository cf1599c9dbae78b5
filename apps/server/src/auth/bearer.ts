import type { IncomingMessage } from 'node:http'
import { AUTHORIZATION_SCHEME, headerNames } from '@plant-store/contract'
import type { RequestHandler } from 'express'
import { countHeader } from '../http/framing.ts'
import { RequestError } from '../http/request-error.ts'
import type { TokenRecord } from '../store/store.ts'

/** RFC 9110 §11.4: the scheme without regard to case, then spaces, then the credential. */
const BEARER = new RegExp(`^${AUTHORIZATION_SCHEME} +(.+)$`, 'i')

const CHALLENGE = `${AUTHORIZATION_SCHEME} realm="plant-store"`

/**
 * How long a check of a credential is valid: if the body arrives later, the credential is checked
 * again. Together with the cache of tokens (2.5 s) that is less than the 5 s within which a
 * revocation must take effect.
 */
const CHECK_VALID_MS = 1_000

/** A token that was found good: `id` identifies it, `name` is for logs. */
export type AdmittedToken = Pick<TokenRecord, 'id' | 'name'>

/**
 * The token of a credential; undefined if it is unknown, malformed, revoked or expired. There is no
 * promise for a credential that the same connection showed a moment ago. `beforeCost` is called
 * after the check has waited for its turn and before its expensive part; what it throws ends the check.
 */
export interface Authenticate {
  (
    credential: string,
    connection: object,
    beforeCost?: () => void,
  ): AdmittedToken | undefined | Promise<AdmittedToken | undefined>
  /** Whether this process knows the token that a credential names, good or not: checking it costs little. */
  isKnown(credential: string): boolean
}

/** How often a caller may fail; whoever keeps the count implements it. */
export interface FailureLimit {
  /** @throws RequestError `too_many_requests` while the caller is over the limit. */
  check(request: IncomingMessage): void
  /**
   * Counts a request that showed no credential, or one that is not valid.
   * @throws RequestError `too_many_requests` if the caller was over the limit already.
   */
  add(request: IncomingMessage): void
}

/** The token that a request shows; undefined for none, or for several. */
export function credentialOf(request: IncomingMessage): string | undefined {
  const credential = BEARER.exec(String(request.headers[headerNames.authorization] ?? ''))?.[1]
  // Node keeps the first of several Authorization lines, but nobody knows which one was meant.
  return credential !== undefined && countHeader(request, headerNames.authorization) === 1
    ? credential
    : undefined
}

function missingCredentials(request: IncomingMessage): RequestError {
  const isDoubled = countHeader(request, headerNames.authorization) > 1
  const message = isDoubled
    ? 'the request must have one Authorization header'
    : 'send a token as "Authorization: Bearer <ACCESS_TOKEN>"'
  const headers = [headerNames.wwwAuthenticate, CHALLENGE]
  return new RequestError('missing_credentials', message, { headers })
}

function invalidToken(): RequestError {
  return new RequestError('invalid_token', 'the token is not valid', {
    headers: [headerNames.wwwAuthenticate, `${CHALLENGE}, error="invalid_token"`],
  })
}

/**
 * The two checks of a request's credential; each throws a RequestError. `require` lets a request pass
 * that shows a usable token; its body is not read before. `requireStill` lets a request pass whose
 * token is still usable, after its body has arrived.
 */
export function createBearerChecks(
  authenticate: Authenticate,
  failures: FailureLimit,
): Record<'require' | 'requireStill', RequestHandler> {
  const requireToken: RequestHandler = (request, { locals }, next) => {
    const credential = credentialOf(request)
    if (credential === undefined) {
      failures.add(request)
      throw missingCredentials(request)
    }
    const admit = (token: AdmittedToken | undefined): void => {
      if (token === undefined) {
        failures.add(request)
        throw invalidToken()
      }
      locals.tokenName = token.name
      locals.tokenId = token.id
      locals.judgedAt = performance.now()
      next()
    }
    const beforeCost = () => failures.check(request)
    const token = authenticate(credential, request.socket, beforeCost)
    return token instanceof Promise ? token.then(admit) : admit(token)
  }

  const requireStill: RequestHandler = (request, response, next) => {
    const { judgedAt = 0 } = response.locals
    const isValid = performance.now() - judgedAt < CHECK_VALID_MS
    return isValid ? next() : requireToken(request, response, next)
  }

  return { require: requireToken, requireStill }
}
