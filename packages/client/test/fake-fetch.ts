import type { Applied, PlantStoreError } from '../src/index.ts'
import { apiError as toApiError } from '../src/response.ts'
import type { Runtime } from '../src/runtime.ts'

export interface SentRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly redirect: RequestRedirect | undefined
}

export type FakeReply = (request: SentRequest, attempt: number) => Response | Promise<Response>

export interface FakeFetch {
  readonly fetch: typeof fetch
  readonly sent: readonly SentRequest[]
}

/** A fetch without a network, which heeds the signal as the real one does. */
export function createFakeFetch(reply: FakeReply): FakeFetch {
  const sent: SentRequest[] = []
  return {
    sent,
    fetch(input, { headers, body, signal, redirect } = {}) {
      const request = {
        url: String(input),
        headers: Object.fromEntries(new Headers(headers)),
        body: String(body),
        redirect,
      }
      const attempt = sent.push(request)
      return new Promise((resolve, reject) => {
        const abort = () => reject(signal?.reason)
        if (signal?.aborted) abort()
        signal?.addEventListener('abort', abort, { once: true })
        Promise.resolve()
          .then(() => reply(request, attempt))
          .then(resolve, reject)
      })
    },
  }
}

export function replyJson(
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): Response {
  return new Response(JSON.stringify(value), { status, headers })
}

export const replyFern = () => replyJson(200, { name: 'Fern' })

/** The error for a reply with an Error of this number. */
export function apiError(
  status: number,
  error: number,
  facts: { readonly applied?: Applied; readonly retryAfterMs?: number } = {},
): PlantStoreError {
  return toApiError(status, { error, message: '' }, { applied: 'no', ...facts })
}

/** What fetch throws for a system's error. */
export function fetchFailed(code: string, syscall?: string): TypeError {
  const cause = Object.assign(new Error(`${syscall} ${code}`), { code, syscall })
  return new TypeError('fetch failed', { cause })
}

/** Resolves after a time by that clock. */
export function delay(runtime: Runtime, ms: number): Promise<void> {
  return new Promise((resolve) => void runtime.startTimer(resolve, ms))
}
