/** Escapes of JSON (RFC 8259 §7), and of JavaScript beside them. */
const JSON_ESCAPES = /\\(?:u([\da-f]{4})|x([\da-f]{2})|\\)/gi

/** RFC 3986 §2.1. */
const PERCENT_ESCAPES = /%([\da-f]{2})/gi

/** Honest text has no escapes nested this deep, and each level costs a pass over the text. */
const MOST_ESCAPES_DEEP = 8

/** A word that may contain a credential, escapes included; it never includes the quotes of JSON. */
const WORDS = /(?:[\w.%-]|\\[^"])+/g

/** An opaque token with at least one character of its secret, which is the rest of the word. */
const OPAQUE = /plant_[\da-f]{12}_[\w-]/i

const SHORTEST = 20

/** Each part that has two more parts behind it, separated by dots. */
const FIRST_PARTS = /(?<![\w-])[\w-]+(?=\.[\w-]+\.[\w-])/g

/**
 * `{` and then `"` or a blank, in base64url without its first letter, `e`: where a JSON object may
 * begin. A mark before a credential, such as `%0`, may make an escape of that letter.
 */
const OBJECT_STARTS = /y[JA]|w[ok0]/g

const JSON_OBJECT = /^\{\s*"[^"]*"\s*:[\s\S]*\}\s*$/

/** More possible starts than this in front of the true one are no accident. */
const MOST_STARTS = 16

/** Without any of these there is no credential, escaped or not: most lines need no other check. */
const MAY_HOLD_CREDENTIAL = /[%\\]|plant_|e[yw]/i

const REPLACEMENT = '[credential]'

function characterOf(digits: string): string {
  return String.fromCharCode(Number.parseInt(digits, 16))
}

/** Removes one level of escapes; JSON's is the outer one, because a URI has no backslash. */
function unescapeOnce(text: string): string {
  const unescaped = text.replace(JSON_ESCAPES, (_escape, unit, byte) =>
    unit || byte ? characterOf(unit ?? byte) : '\\',
  )
  if (unescaped !== text) return unescaped
  return text.replace(PERCENT_ESCAPES, (_escape, byte) => characterOf(byte))
}

/** Judged by its ends and its first name: JSON.parse would cost more, because it throws. */
function isJsonObject(base64url: string): boolean {
  return JSON_OBJECT.test(Buffer.from(base64url, 'base64url').toString('latin1'))
}

/** Whether a part ends with the header of a JWT; other text may be in front of it. */
function endsWithHeader(part: string): boolean {
  const starts = Array.from(part.matchAll(OBJECT_STARTS), ({ index }) => index)
  return (
    starts.length > MOST_STARTS || starts.some((start) => isJsonObject(`e${part.slice(start)}`))
  )
}

function holdsPlainCredential(text: string): boolean {
  if (OPAQUE.test(text)) return true
  return (text.match(FIRST_PARTS) ?? []).some(endsWithHeader)
}

/** Whether a word, such as a request id, contains a credential: see withoutCredentials. */
export function holdsCredential(word: string): boolean {
  if (word.length < SHORTEST || !MAY_HOLD_CREDENTIAL.test(word)) return false
  let plain = word
  for (let depth = 0; depth < MOST_ESCAPES_DEEP; depth++) {
    // At each depth, because a mark in front of a credential may turn its beginning into an escape.
    if (holdsPlainCredential(plain)) return true
    const next = unescapeOnce(plain)
    if (next === plain) return false
    plain = next
  }
  return true
}

/**
 * Replaces each word that contains one of our opaque tokens, even without a part of its secret, or a
 * JWT (RFC 7519), by `[credential]`: in upper or lower case, glued to other words, percent-encoded or
 * JSON-escaped once or more. JSON stays JSON. Takes linear time.
 */
export function withoutCredentials(text: string): string {
  if (!MAY_HOLD_CREDENTIAL.test(text)) return text
  return text.replace(WORDS, (word) => (holdsCredential(word) ? REPLACEMENT : word))
}
