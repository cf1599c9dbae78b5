import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { errorBodyOf, hasUnwantedBody, requestIdOf, sendAnswer } from '../http/answer.ts'
import type { Exchange } from '../http/exchanges.ts'
import { checkFraming } from '../http/framing.ts'
import type { RefusalReason, Refusals } from './refusals.ts'

export interface AdmissionOptions {
  /** Requests that may be handled at a time. */
  readonly requestLimit: number
  readonly bodyLimitBytes: number
  readonly isOverloaded: () => boolean
  readonly isDraining: () => boolean
  readonly refusals: Refusals
  /** Adds to every answer what it needs beyond the usual, such as the headers of CORS. */
  readonly mark: ((request: IncomingMessage, response: ServerResponse) => void) | undefined
}

const BODY = errorBodyOf({
  code: 50300,
  message: 'nothing was stored, try again: the server has more requests than it can answer in time',
})

/**
 * Refusals that are told in one turn of the event loop, about a millisecond of it. To tell costs
 * half as much as to serve, and whoever is told may ask again at once: without a bound, callers
 * that do would leave no time for those that were let in.
 */
const REFUSALS_PER_TURN = 64

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
  const { requestLimit, bodyLimitBytes, isOverloaded, isDraining, refusals, mark } = options
  let inFlight = 0
  const refused: Exchange[] = []
  const leave = () => {
    inFlight--
  }

  function answer({ request, response }: Exchange): void {
    sendAnswer(request, response, {
      status: 503,
      body: BODY,
      requestId: requestIdOf(request),
      headers: RETRY_AFTER,
      closesConnection: isDraining() || hasUnwantedBody(request, bodyLimitBytes),
    })
  }

  function answerSome(): void {
    for (const exchange of refused.splice(0, REFUSALS_PER_TURN)) {
      // What came after its headers may have broken the rules, and been answered, meanwhile.
      if (!exchange.response.headersSent) answer(exchange)
    }
    if (refused.length > 0) setImmediate(answerSome)
  }

  function refuse(exchange: Exchange, reason: RefusalReason): void {
    // What cannot be trusted to end where it seems to gets the app's answer, and is closed.
    if (!isWellFramed(exchange.request)) {
      app(exchange.request, exchange.response)
      return
    }
    refusals.count(reason)
    if (refused.length === 0) setImmediate(answerSome)
    refused.push(exchange)
  }

  return (request, response) => {
    mark?.(request, response)
    if (inFlight >= requestLimit) return refuse({ request, response }, 'requests_in_flight')
    if (isOverloaded()) return refuse({ request, response }, 'overload')
    inFlight++
    response.on('close', leave)
    app(request, response)
  }
}
