import { contract, errorNameOf, headerNames, SUCCESS_STATUS } from '@plant-store/contract'
import { PlantStoreApiError } from './errors/api-error.ts'
import type { Applied, PlantStoreError } from './errors/plant-store-error.ts'

/** Refusals that the same bytes meet each time, whoever sends them again and wherever they arrive. */
const LASTING: readonly number[] = [400, 413, 415]

/**
 * Whether a reply with an Error leaves the plant stored. The server promises that 4xx, 503 and
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

/** What arrives of a reply before its body. */
export interface ReplyHead {
  readonly status: number
  readonly headers: Headers
}

/** What the body of a stored plant begins with; the request, and so an echo of it, begins with the id. */
const STORED = '{"name":'

/**
 * Whether a plant is stored whose reply began but broke off. A 200 may be a proxy's page or an echo;
 * JSON under the id of the request that begins as a plant is the server's, which says 200 only of
 * what is stored.
 * @param body as much of it as arrived
 */
export function appliedByPart(
  head: ReplyHead | undefined,
  body: string,
  requestId: string,
): Applied {
  if (head?.status !== SUCCESS_STATUS || !body.startsWith(STORED)) return 'maybe'
  if (head.headers.get(headerNames.requestId) !== requestId) return 'maybe'
  const contentType = head.headers.get(headerNames.contentType)
  return contentType?.startsWith(contract.createPlant.contentType) ? 'yes' : 'maybe'
}

/**
 * What is known of the plant after one more attempt. A doubt once there stays, since an earlier
 * request may still arrive. But an id that is taken by another plant stays taken by it, as nothing
 * is ever overwritten or deleted: so no request before has stored this plant, and none ever will.
 */
export function nextApplied(before: Applied, error: PlantStoreError): Applied {
  const isTaken = error instanceof PlantStoreApiError && error.apiName === 'id_taken'
  if (isTaken && error.applied === 'no') return 'no'
  return before === 'yes' || error.applied === 'no' ? before : error.applied
}
