import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { DeferReply } from '../http/deferred-replies.ts'
import { checkFraming } from '../http/framing.ts'
import { errorBodyOf, hasUnwantedBody, requestIdOf, sendReply } from '../http/reply.ts'
import { RequestError } from '../http/request-error.ts'
import type { RequestObserver } from '../http/request-observer.ts'
import type { AdmitForwarded } from './per-address.ts'
import type { Refusals } from './refusals.ts'
import { Slots } from './slots.ts'

export interface AdmissionOptions {
  /** Requests that may be handled at a time. */
  readonly requestLimit: number
  /** Whether a request is for what anybody may read; such requests take no places of others. */
  readonly isPublic: (request: IncomingMessage) => boolean
  readonly admitForwarded: AdmitForwarded
  readonly bodyLimitBytes: number
  readonly isOverloaded: () => boolean
  readonly isDraining: () => boolean
  readonly refusals: Refusals
  readonly observer?: RequestObserver | undefined
  readonly deferReply: DeferReply
  /** Adds to every reply what it needs beyond the usual, such as the headers of CORS. */
  readonly mark: ((request: IncomingMessage, response: ServerResponse) => void) | undefined
}

/** Requests for public content that may be handled at a time, whatever the limit of the others is. */
const PUBLIC_LIMIT = 64

const unavailable = new RequestError(
  'unavailable',
  'nothing was stored, try again: the server has more requests than it can answer in time',
)

const tooMany = new RequestError(
  'too_many_requests',
  'nothing was stored, try again: too many requests from this address are in flight',
)

const RETRY_AFTER = ['retry-after', '1']

/** Whether nothing that RFC 9112 forbids makes it doubtful where a request ends. */
export function isWellFramed(request: IncomingMessage): boolean {
  try {
    checkFraming(request)
    return true
  } catch {
    return false
  }
}

/**
 * Hands requests on while there are few enough of them, and replies the others 503: before the app,
 * without an error and without a line in the log, because a refusal helps only while it is cheaper
 * than a reply.
 */
export function admitRequests(app: RequestListener, options: AdmissionOptions): RequestListener {
  const { requestLimit, bodyLimitBytes, isOverloaded, isDraining } = options
  const { isPublic, admitForwarded, refusals, observer, deferReply, mark } = options
  const slots = new Slots(requestLimit)
  const publicSlots = new Slots(PUBLIC_LIMIT)

  function reply(request: IncomingMessage, response: ServerResponse, error: RequestError): void {
    sendReply(request, response, {
      status: error.status,
      body: errorBodyOf(error),
      requestId: requestIdOf(request),
      headers: RETRY_AFTER,
      closesConnection: isDraining() || hasUnwantedBody(request, bodyLimitBytes),
    })
  }

  function refuse(
    request: IncomingMessage,
    response: ServerResponse,
    error: RequestError = unavailable,
  ): void {
    // What cannot be trusted to end where it seems to gets the app's answer, and is closed.
    if (!isWellFramed(request)) {
      app(request, response)
      return
    }
    observer?.answered(error.errorName, error.status, undefined)
    deferReply(request.socket, () => reply(request, response, error))
  }

  return (request, response) => {
    mark?.(request, response)
    if (isOverloaded()) {
      refusals.count('overload')
      return refuse(request, response)
    }
    if (!admitForwarded(request, response)) return refuse(request, response, tooMany)
    if (!(isPublic(request) ? publicSlots : slots).take(response)) {
      refusals.count('requests_in_flight')
      return refuse(request, response)
    }
    app(request, response)
  }
}
