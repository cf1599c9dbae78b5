import type { Request, Response } from 'express'
import { framingProblemOf } from '../framing.ts'
import type { EarlyCheck, PipelineOptions } from '../pipeline.ts'
import { addHeader, endsConnection, sendError } from '../reply.ts'
import { RequestError, retryAfter } from '../request-error.ts'
import type { RefusalReason, Refusals } from './refusals.ts'

/** Why a request is refused, and with which error. */
export interface Refusal {
  readonly reason: RefusalReason
  readonly error: RequestError
  /** For Retry-After; 1 by default. */
  readonly retryAfterSeconds?: number
  /** Whom the log names: an address. */
  readonly who?: string
}

/** Returns the refusal of a request; undefined if the request may go on. */
export type Limit = (request: Request, response: Response) => Refusal | undefined

export interface AdmissionOptions {
  readonly pipeline: PipelineOptions
  readonly refusals: Refusals
}

/**
 * Refuses requests before the app, without making an error and without a line in the log: a refusal
 * helps only while it costs less than a create. A request with a framing problem goes on, because the
 * app answers it and closes its connection.
 */
export function refuseEarly(limit: Limit, { pipeline, refusals }: AdmissionOptions): EarlyCheck {
  const { observer, deferReply = (_socket, send) => send() } = pipeline
  return (request, response) => {
    const refusal = limit(request, response)
    if (refusal === undefined || framingProblemOf(request) !== undefined) return true
    const { reason, error, retryAfterSeconds, who } = refusal
    refusals.count(reason, who)
    observer?.answered(error.errorName, error.status, undefined)
    addHeader(response, ...retryAfter(retryAfterSeconds))
    deferReply(request.socket, () =>
      sendError(response, error, { closesConnection: endsConnection(request, pipeline) }),
    )
    return false
  }
}

const unavailable = new RequestError(
  'unavailable',
  'nothing was stored, try again: the server has more requests than it can answer in time',
)

/** Refuses requests with 503 while plants wait too long for their commit. */
export function limitOverload(isOverloaded: () => boolean): Limit {
  const refusal = { reason: 'overload', error: unavailable } as const
  return () => (isOverloaded() ? refusal : undefined)
}

/** Requests for public content that may be in flight, whatever the limit of the others is. */
const PUBLIC_LIMIT = 64

/**
 * Refuses requests with 503 while `requestLimit` others are in flight, each until its
 * reply has left or its caller is gone; public ones have places of their own.
 */
export function limitInFlight(
  requestLimit: number,
  isPublic: (request: Request) => boolean,
): Limit {
  const refusal = { reason: 'requests_in_flight', error: unavailable } as const
  let requests = 0
  let publicRequests = 0
  const leave = () => void requests--
  const leavePublic = () => void publicRequests--
  return (request, response) => {
    if (isPublic(request)) {
      if (publicRequests >= PUBLIC_LIMIT) return refusal
      publicRequests++
      response.on('close', leavePublic)
    } else {
      if (requests >= requestLimit) return refusal
      requests++
      response.on('close', leave)
    }
    return undefined
  }
}
