import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { errorTable } from '@plant-store/contract'
import type { Authenticate } from '../auth/authenticate.ts'
import { credentialOf } from '../auth/bearer.ts'
import type { Cors } from '../http/cors.ts'
import type { DeferReply } from '../http/deferred-replies.ts'
import { isPublicTarget, type PublicPaths } from '../http/public-paths.ts'
import { errorBodyOf, hasUnwantedBody, requestIdOf, sendReply } from '../http/reply.ts'
import type { RequestObserver } from '../http/request-observer.ts'
import { isWellFramed } from './admission.ts'
import { type FailedCredentials, TOO_MANY_FAILED } from './failed-credentials.ts'

export interface StrangersOptions {
  readonly failed: FailedCredentials
  readonly authenticate: Authenticate
  /** What strangers may read, however many they are. */
  readonly publicPaths: PublicPaths
  readonly cors: Cors | undefined
  readonly bodyLimitBytes: number
  readonly isDraining: () => boolean
  readonly observer?: RequestObserver | undefined
  readonly deferReply: DeferReply
}

const { code, status } = errorTable.too_many_requests
const BODY = errorBodyOf({ code, message: TOO_MANY_FAILED })

/**
 * Answers 429 to callers over the limit of failed credentials, unless they show a token that this
 * process has met. It stands before everything else, so that such a request is none in flight,
 * makes no error and no line in the log, and costs less than a request that is served.
 */
export function refuseStrangers(
  handle: RequestListener,
  options: StrangersOptions,
): RequestListener {
  const { failed, authenticate, publicPaths, cors, observer, deferReply } = options

  function isLetBy(request: IncomingMessage): boolean {
    const credential = credentialOf(request)
    if (credential !== undefined && authenticate.isKnown(credential)) return true
    if (isPublicTarget(publicPaths, request.url ?? '')) return true
    if (cors?.isPreflight(request)) return true
    // What cannot be trusted to end where it seems to gets the app's answer, and is closed.
    return !isWellFramed(request)
  }

  function reply(request: IncomingMessage, response: ServerResponse, retryAfter: string): void {
    sendReply(request, response, {
      status,
      body: BODY,
      requestId: requestIdOf(request),
      headers: ['retry-after', retryAfter],
      closesConnection: options.isDraining() || hasUnwantedBody(request, options.bodyLimitBytes),
    })
  }

  return (request, response) => {
    if (!failed.isOver(request) || isLetBy(request)) return handle(request, response)
    cors?.mark(request, response)
    observer?.answered('too_many_requests', status, undefined)
    const retryAfter = failed.refuse(request)
    deferReply(request.socket, () => reply(request, response, retryAfter))
  }
}
