import type { IncomingMessage } from 'node:http'
import type { Request, RequestHandler, Response } from 'express'
import { countHeader } from '../http/framing.ts'
import { RequestError } from '../http/request-error.ts'
import { type FailedCredentials, tooManyFailed } from '../limits/failed-credentials.ts'
import type { AdmittedToken, Authenticate } from './authenticate.ts'

/** RFC 9110 §11.4: the scheme without regard to case, then spaces, then the credential. */
const BEARER = /^bearer +(.+)$/i

const CHALLENGE = 'Bearer realm="plant-store"'

/**
 * How long a credential stands once it was judged: a body that comes later has it judged again.
 * Together with what a token is remembered for (2.5 s) that is less than the 5 s within which a
 * revocation must act.
 */
const STANDS_MS = 1_000

/** What a request shows as its token; undefined where that is nothing, or not one thing. */
export function credentialOf(request: IncomingMessage): string | undefined {
  const credential = BEARER.exec(request.headers.authorization ?? '')?.[1]
  // Node keeps the first of several Authorization lines; which one counts is not for us to guess.
  return credential !== undefined && countHeader(request, 'authorization') === 1
    ? credential
    : undefined
}

function missingCredentials(): RequestError {
  return new RequestError(
    'missing_credentials',
    'send a token as "Authorization: Bearer <ACCESS_TOKEN>"',
    { headers: ['www-authenticate', CHALLENGE] },
  )
}

function invalidToken(): RequestError {
  return new RequestError('invalid_token', 'the token is not valid', {
    headers: ['www-authenticate', `${CHALLENGE}, error="invalid_token"`],
  })
}

/** The two checks of a request's credential. */
export interface BearerChecks {
  /** Lets a request pass that carries a usable token; its body is not read before. */
  readonly require: RequestHandler
  /** Lets a request pass whose token is usable still, now that its body is there. */
  readonly requireStill: RequestHandler
}

export function createBearerChecks(
  authenticate: Authenticate,
  failed: FailedCredentials,
): BearerChecks {
  function judge(request: Request, response: Response, next: () => void) {
    const credential = credentialOf(request)
    if (credential === undefined) {
      failed.add(request)
      throw missingCredentials()
    }
    const admit = (token: AdmittedToken | undefined): void => {
      if (token === undefined) {
        failed.add(request)
        throw invalidToken()
      }
      const { locals } = response
      locals.tokenName = token.name
      locals.tokenId = token.id
      locals.judgedAt = performance.now()
      next()
    }
    const refuseIfOver = () => {
      if (failed.isOver(request)) throw tooManyFailed(failed.refuse(request))
    }
    const token = authenticate(credential, request.socket, refuseIfOver)
    return token instanceof Promise ? token.then(admit) : admit(token)
  }

  return {
    require: judge,
    requireStill(request, response, next) {
      const { judgedAt = 0 } = response.locals
      return performance.now() - judgedAt < STANDS_MS ? next() : judge(request, response, next)
    },
  }
}
