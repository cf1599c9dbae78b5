import { contract, errorTable, headerNames, SUCCESS_STATUS } from '@plant-store/contract'
import type { Applied, PlantStoreError } from './errors.ts'
import { encodeStored, type ResponseHead, type Sent } from './plant-codec.ts'

/** Refusals that the same bytes meet each time, whoever sends them again and wherever they arrive. */
const LASTING: readonly number[] = [400, 413, 415]

/** What the server promises of an error; of a number of a later version, what all of its status do. */
function storesNothing(status: number, apiCode: number): boolean {
  const errors = Object.values(errorTable)
  const known = errors.filter(({ code }) => code === apiCode)
  const alike = known.length > 0 ? known : errors.filter((error) => error.status === status)
  if (alike.length === 0) return status >= 400 && status < 500
  return alike.every(({ stored }) => stored === 'no')
}

/**
 * Whether an Error leaves the plant stored. One whose number does not begin with its status is not the
 * server's, nor is a 421, which says that it is the wrong server (RFC 9110 §15.5.20). It speaks of one
 * request: where two may have been sent, only what the first must have met as well says it of both.
 */
export function appliedByError(status: number, apiCode: number, isOnlyRequest: boolean): Applied {
  const isPromise = Math.floor(apiCode / 100) === status && status !== 421
  if (!isPromise || !storesNothing(status, apiCode)) return 'maybe'
  return isOnlyRequest || LASTING.includes(status) ? 'no' : 'maybe'
}

/**
 * Whether a plant is stored whose response broke off after so much of its body. A 200 may be a proxy's
 * page or an echo; JSON under the request's id that begins as the one response to it is the server's.
 */
export function appliedByPart(
  head: ResponseHead | undefined,
  text: string,
  { plant, requestId }: Pick<Sent, 'plant' | 'requestId'>,
): Applied {
  if (head?.status !== SUCCESS_STATUS || plant === undefined) return 'maybe'
  if (head.headers.get(headerNames.requestId) !== requestId) return 'maybe'
  const contentType = head.headers.get(headerNames.contentType)
  if (!contentType?.startsWith(contract.createPlant.contentType)) return 'maybe'
  const expected = encodeStored(plant)
  // Without the name of its first field it may be a cut echo of the request, which begins with the id.
  return text.includes(':') && expected.startsWith(text) ? 'yes' : 'maybe'
}

/**
 * What is known of the plant after one more attempt. A doubt stays, since an earlier request may still
 * arrive. But nothing is ever overwritten or deleted: an id that another plant has, it always has.
 */
export function nextApplied(before: Applied, { apiName, applied }: PlantStoreError): Applied {
  if (apiName === 'id_taken' && applied === 'no') return 'no'
  return before === 'yes' || applied === 'no' ? before : applied
}
