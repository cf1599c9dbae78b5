import type { Request } from 'express'
import type { Authenticate } from '../../auth/bearer.ts'
import { credentialOf } from '../../auth/bearer.ts'
import type { Cors } from '../cors.ts'
import type { Limit } from './admission.ts'
import type { FailedCredentials } from './failed-credentials.ts'

export interface StrangersOptions {
  readonly failed: FailedCredentials
  readonly authenticate: Authenticate
  /** Whether a request is for what everybody may read. */
  readonly isPublic: (request: Request) => boolean
  readonly cors: Cors | undefined
}

/**
 * Refuses callers over the limit of failed credentials with 429, unless they show a token that this
 * process knows, or ask for what everybody may read. Such a request is not in flight, and costs less
 * than one that is served.
 */
export function limitStrangers(options: StrangersOptions): Limit {
  const { failed, authenticate, isPublic, cors } = options

  function mayGoOn(request: Request): boolean {
    const credential = credentialOf(request)
    if (credential !== undefined && authenticate.isKnown(credential)) return true
    return isPublic(request) || cors?.isPreflight(request) === true
  }

  return (request) => {
    const refusal = failed.refusalOf(request)
    return refusal === undefined || mayGoOn(request) ? undefined : refusal
  }
}
