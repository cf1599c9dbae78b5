import { contract, headerNames, REPLAYED } from '@plant-store/contract'

/** A request for the one operation. */
export interface Request {
  /** The body, sent as it is. */
  readonly body: string
  /** The value of `authorization`; without it the request has no such header. */
  readonly authorization?: string | undefined
}

export interface Answer {
  readonly status: number
  readonly body: string
  /** From sending to the last byte of the answer, in ms. */
  readonly ms: number
  readonly requestId: string | null
  /** Seconds, as the server wrote them. */
  readonly retryAfter: string | null
  /** Whether the same plant was there before. */
  readonly isReplay: boolean
}

/** Longer than the server lets anything wait. */
const LIMIT_MS = 60_000

const { method, path, contentType } = contract.createPlant

/**
 * Sends once, to the service at a base address. Resolves to undefined where no whole answer came, and nobody knows what
 * became of it.
 */
export async function send(
  baseUrl: string,
  { body, authorization }: Request,
): Promise<Answer | undefined> {
  const began = performance.now()
  try {
    const response = await fetch(baseUrl + path, {
      method,
      headers: {
        [headerNames.contentType]: contentType,
        ...(authorization && { [headerNames.authorization]: authorization }),
      },
      body,
      cache: 'no-store',
      credentials: 'omit',
      signal: AbortSignal.timeout(LIMIT_MS),
    })
    const text = await response.text()
    const { status, headers } = response
    return {
      status,
      body: text,
      ms: performance.now() - began,
      requestId: headers.get(headerNames.requestId),
      retryAfter: headers.get(headerNames.retryAfter),
      isReplay: headers.get(headerNames.idempotentReplayed) === REPLAYED,
    }
  } catch {
    return undefined
  }
}
