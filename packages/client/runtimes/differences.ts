/** Why some runtimes cannot say what others say. */
const SENDS_UNSEEN =
  'it tells nothing of what it sends, and may send twice, so a refusal that may pass is `maybe`'
const OPAQUE = 'a page cannot see why a request failed, so it cannot know that nothing was sent'
const NO_STAGE = 'its error does not say how far the connection had come'
const RESENDS = 'when a kept connection breaks, the runtime silently sends again by itself'
const NO_DISPATCHER = 'its fetch takes no dispatcher of undici'

export const OPEN_AFTER_REFUSAL = { browser: SENDS_UNSEEN, deno: SENDS_UNSEEN }
export const OPEN_AFTER_FAILURE = { browser: OPAQUE }
export const OPEN_AFTER_CUT = { browser: OPAQUE, bun: NO_STAGE }
export const OPEN_AFTER_STALL = { browser: OPAQUE, bun: NO_STAGE, deno: NO_STAGE }
export const SENDS_AGAIN = { browser: RESENDS, deno: RESENDS }
export const TAKES_NO_DISPATCHER = {
  bun: NO_DISPATCHER,
  deno: NO_DISPATCHER,
  browser: NO_DISPATCHER,
}
export const HIDES_REDIRECTS = { browser: 'a page sees a redirect as a response without status' }
