import { contract, errorNameOf, headerNames, SUCCESS_STATUS } from '@plant-store/contract'
import type { Applied, PlantStoreError } from './errors.ts'

/** Refusals that the same bytes meet each time, whoever sends them again and wherever they arrive. */
const LASTING: readonly number[] = [400, 413, 415]

/**
 * Whether a response with an Error leaves the plant stored. The server promises that 4xx, 503 and
 * `internal` stored nothing; a body whose number does not begin with its status is not the server's
 * promise, nor is a 421, by which another server says that it is the wrong one (RFC 9110 §15.5.20).
 * The promise is for one request: where two may have been sent, only a refusal that the first must
 * have met as well says it of both.
 */
export function appliedByError(status: number, apiCode: number, isOnlyRequest: boolean): Applied {
  const isPromise = Math.floor(apiCode / 100) === status && status !== 421
  const isRefusal = (status >= 400 && status < 500) || status === 503
  if (!isPromise || !(isRefusal || errorNameOf(apiCode) === 'internal')) return 'maybe'
  return isOnlyRequest || LASTING.includes(status) ? 'no' : 'maybe'
}

/** What arrives of a response before its body. */
export interface ResponseHead {
  readonly status: number
  readonly headers: Headers
}

/** What is asked of a response that broke off. */
export interface BrokenOff {
  readonly head: ResponseHead | undefined
  /** As much of the body as arrived. */
  readonly text: string
  /** The id of the request. */
  readonly requestId: string
  /** The body by which the server says that it has stored what was sent. */
  readonly expected: () => string
}

/** So much of the body that it can be nothing else: a cut request, echoed, begins with the id. */
const LEAST = '{"name":'.length

/**
 * Whether a plant is stored whose response began but broke off. A 200 may be a proxy's page or an
 * echo; JSON under the id of the request that begins as the plant sent is the server's, which says
 * 200 only of what is stored.
 */
export function appliedByPart({ head, text, requestId, expected }: BrokenOff): Applied {
  if (head?.status !== SUCCESS_STATUS || text.length < LEAST) return 'maybe'
  if (head.headers.get(headerNames.requestId) !== requestId) return 'maybe'
  const contentType = head.headers.get(headerNames.contentType)
  if (!contentType?.startsWith(contract.createPlant.contentType)) return 'maybe'
  return expected().startsWith(text) ? 'yes' : 'maybe'
}

/**
 * What is known of the plant after one more attempt. A doubt once there stays, since an earlier
 * request may still arrive. But an id that is taken by another plant stays taken by it, as nothing
 * is ever overwritten or deleted: so no request before has stored this plant, and none ever will.
 */
export function nextApplied(before: Applied, { apiName, applied }: PlantStoreError): Applied {
  if (apiName === 'id_taken' && applied === 'no') return 'no'
  return before === 'yes' || applied === 'no' ? before : applied
}
