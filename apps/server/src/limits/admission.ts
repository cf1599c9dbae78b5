import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { errorBodyOf, hasUnwantedBody, requestIdOf, sendAnswer } from '../http/answer.ts'
import { checkFraming } from '../http/framing.ts'
import type { RequestObserver } from '../http/request-observer.ts'
import type { RefusalReason, Refusals } from './refusals.ts'
import type { TellLater } from './tell-later.ts'

export interface AdmissionOptions {
  /** Requests that may be handled at a time. */
  readonly requestLimit: number
  readonly bodyLimitBytes: number
  readonly isOverloaded: () => boolean
  readonly isDraining: () => boolean
  readonly refusals: Refusals
  readonly observer?: RequestObserver | undefined
  readonly tellLater: TellLater
  /** Adds to every answer what it needs beyond the usual, such as the headers of CORS. */
  readonly mark: ((request: IncomingMessage, response: ServerResponse) => void) | undefined
}

const BODY = errorBodyOf({
  code: 50300,
  message: 'nothing was stored, try again: the server has more requests than it can answer in time',
})

const RETRY_AFTER = ['retry-after', '1']

function isWellFramed(request: IncomingMessage): boolean {
  try {
    checkFraming(request)
    return true
  } catch {
    return false
  }
}

/**
 * Hands requests on while there are few enough of them, and answers the others 503: before the app,
 * without an error and without a line in the log, because a refusal helps only while it is cheaper
 * than an answer.
 */
export function admitRequests(app: RequestListener, options: AdmissionOptions): RequestListener {
  const { requestLimit, bodyLimitBytes, isOverloaded, isDraining } = options
  const { refusals, observer, tellLater, mark } = options
  let inFlight = 0
  const leave = () => {
    inFlight--
  }

  function answer(request: IncomingMessage, response: ServerResponse): void {
    // What came after its headers may have broken the rules, and been answered, meanwhile.
    if (response.headersSent) return
    sendAnswer(request, response, {
      status: 503,
      body: BODY,
      requestId: requestIdOf(request),
      headers: RETRY_AFTER,
      closesConnection: isDraining() || hasUnwantedBody(request, bodyLimitBytes),
    })
  }

  function refuse(request: IncomingMessage, response: ServerResponse, reason: RefusalReason): void {
    // What cannot be trusted to end where it seems to gets the app's answer, and is closed.
    if (!isWellFramed(request)) {
      app(request, response)
      return
    }
    refusals.count(reason)
    observer?.answered('unavailable', 503, undefined)
    tellLater(() => answer(request, response))
  }

  return (request, response) => {
    mark?.(request, response)
    if (inFlight >= requestLimit) return refuse(request, response, 'requests_in_flight')
    if (isOverloaded()) return refuse(request, response, 'overload')
    inFlight++
    response.on('close', leave)
    app(request, response)
  }
}
