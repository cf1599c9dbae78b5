import type { IncomingMessage } from 'node:http'
import { contract, headerNames } from '@plant-store/contract'
import type { NextFunction, Request, Response } from 'express'
import { pathOf } from './framing.ts'
import type { PipelineOptions } from './pipeline.ts'
import { addHeader, endsConnection, sendResponse } from './response.ts'

/** The headers that a page may send; our own client sends all of them. */
const ALLOWED_HEADERS = Object.keys(contract.createPlant.headers).join(', ')

/** The headers of a response that a page may read beyond those that every page may. */
const EXPOSED_HEADERS = [
  headerNames.requestId,
  headerNames.idempotentReplayed,
  headerNames.retryAfter,
  headerNames.rateLimit,
  headerNames.rateLimitPolicy,
].join(', ')

/** Browsers keep a preflight for at most two hours. */
const MAX_AGE_SECONDS = '7200'

/**
 * Lets pages of these origins call the service (Fetch Standard, "HTTP CORS protocol"). The browser of a page of any other origin keeps the response from
 * it. Credentials in the sense of CORS (cookies) are never allowed: the service uses none, and a page
 * sends its token itself.
 */
export function createCors(origins: readonly string[], options: PipelineOptions) {
  const { method: allowedMethod, path } = contract.createPlant
  const allowed = new Set(origins)

  function isAllowed(origin: string | undefined): origin is string {
    return origin !== undefined && allowed.has(origin)
  }

  /** Whether it is a preflight from a listed origin. */
  function isPreflight({ method, url = '', headers }: IncomingMessage): boolean {
    if (method !== 'OPTIONS' || pathOf(url) !== path) return false
    return headers['access-control-request-method'] !== undefined && isAllowed(headers.origin)
  }

  return {
    isPreflight,
    /** Gives the response to each request the headers that its page needs to read it; refuses nothing. */
    mark({ headers: { origin } }: IncomingMessage, response: Response) {
      addHeader(response, 'vary', 'Origin')
      if (isAllowed(origin)) {
        addHeader(response, 'access-control-allow-origin', origin)
        addHeader(response, 'access-control-expose-headers', EXPOSED_HEADERS)
      }
      return true
    },
    /** Answers a preflight from a listed origin; any other request goes on. */
    respondToPreflight(request: Request, response: Response, next: NextFunction) {
      if (!isPreflight(request)) return next()
      addHeader(response, 'access-control-allow-methods', allowedMethod)
      addHeader(response, 'access-control-allow-headers', ALLOWED_HEADERS)
      addHeader(response, 'access-control-max-age', MAX_AGE_SECONDS)
      // A page of the public network that calls into a private one, in browsers that ask for it.
      if (request.headers['access-control-request-private-network'] === 'true') {
        addHeader(response, 'access-control-allow-private-network', 'true')
      }
      const closesConnection = endsConnection(request, options)
      sendResponse(response, { status: 204, body: '', closesConnection })
    },
  }
}
