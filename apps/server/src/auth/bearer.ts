import type { RequestHandler } from 'express'
import { countHeader } from '../http/framing.ts'
import { RequestError } from '../http/request-error.ts'
import type { FailedCredentials } from '../limits/failed-credentials.ts'
import type { AdmittedToken, Authenticate } from './authenticate.ts'

/** RFC 9110 §11.4: the scheme without regard to case, then spaces, then the credential. */
const BEARER = /^bearer +(.+)$/i

const CHALLENGE = 'Bearer realm="plant-store"'

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

/** Lets a request pass that carries a usable token; its body is not read before. */
export function requireBearer(
  authenticate: Authenticate,
  failed: FailedCredentials,
): RequestHandler {
  return (request, response, next) => {
    const credential = BEARER.exec(request.headers.authorization ?? '')?.[1]
    // Node keeps the first of several Authorization lines; which one counts is not for us to guess.
    if (credential === undefined || countHeader(request, 'authorization') > 1) {
      throw missingCredentials()
    }

    const admit = (token: AdmittedToken | undefined): void => {
      if (token === undefined) {
        failed.add(request)
        throw invalidToken()
      }
      response.locals.tokenName = token.name
      response.locals.tokenId = token.id
      next()
    }
    if (failed.isOver(request) && !authenticate.isKnown(credential)) failed.refuse(request)
    const token = authenticate(credential, request.socket)
    return token instanceof Promise ? token.then(admit) : admit(token)
  }
}
