import { sleep } from './deadline.ts'
import type { PlantStoreError } from './errors.ts'
import { waitMs } from './retry.ts'

/**
 * Where the plants of a bulk wait together while it is not known whether the server is there.
 * @param probe asks the server; gives why it is away
 * @param over ends all waits; aborted with the last error of an outage longer than `maxOutageMs`
 */
export function createGate(
  probe: () => Promise<PlantStoreError | undefined>,
  maxOutageMs: number,
  over: AbortController,
) {
  let opening: Promise<boolean> | undefined
  /** The first failure since the last response to a plant. */
  let since: number | undefined
  let shutUntil = 0
  function putOff(error: PlantStoreError): void {
    const now = performance.now()
    const lastedMs = now - (since ?? now)
    const leftMs = maxOutageMs - lastedMs
    // From 250 ms the waits grow with the outage to 4 s.
    const delayMs = waitMs(error.retryAfterMs, Math.min(Math.log2(1 + lastedMs / 250), 4))
    // The last request goes at the very end.
    shutUntil = Math.max(shutUntil, now + Math.min(delayMs, leftMs))
    if (leftMs <= 0 || leftMs < (error.retryAfterMs ?? 0)) over.abort(error)
  }
  async function open(): Promise<boolean> {
    for (let probes = 0; ; probes++) {
      const waitsMs = () => (over.signal.aborted ? 0 : shutUntil - performance.now())
      while (waitsMs() > 0) await sleep(waitsMs(), over.signal)
      const error = over.signal.aborted ? undefined : await probe()
      if (error === undefined) return probes === 0
      putOff(error)
    }
  }
  return {
    /** Resolves once it is open, or the bulk is over. */
    pass: async () => void (await opening),
    /** Shuts it until the server is there; resolves to true where it was there all the time. */
    shut(error: PlantStoreError): Promise<boolean> {
      since ??= performance.now()
      // A connection may break without a cause that lasts: the first probe finds out at once.
      if (error.apiCode !== undefined || error.status === 429 || error.retryAfterMs) putOff(error)
      opening ??= open().finally(() => {
        opening = undefined
      })
      return opening
    },
    /** Notes a response to a plant begun then; what is from before others failed says nothing. */
    onResponse(startedAt: number) {
      if (opening === undefined) since = undefined
      else if (since !== undefined && startedAt > since) since = performance.now()
    },
  }
}
