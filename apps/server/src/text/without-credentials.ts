/** Escapes of JSON (RFC 8259 §7), and of JavaScript beside them. */
const JSON_ESCAPES = /\\(?:u([\da-f]{4})|x([\da-f]{2})|\\)/gi

/** RFC 3986 §2.1. */
const PERCENT_ESCAPES = /%([\da-f]{2})/gi

/** Nobody honest writes one in another so often, and each costs a pass over the text. */
const MOST_ESCAPES_DEEP = 8

/** What a credential may be a part of, escapes included; of JSON, whose quotes it leaves alone. */
const WORDS = /(?:[\w.%-]|\\[^"])+/g

/** An opaque token with one character of its secret, which is as long as the rest of the word. */
const OPAQUE = /plant_[\da-f]{12}_[\w-]/i

const SHORTEST = 20

/** Each first of three parts between dots. */
const FIRST_PARTS = /(?<![\w-])[\w-]+(?=\.[\w-]+\.[\w-])/g

/** `{` and then `"` or a blank, in base64url: where a JSON object may begin. */
const OBJECT_STARTS = /e(?:yJ|yA|w[ok0])/g

const JSON_OBJECT = /^\{\s*"[^"]*"\s*:[\s\S]*\}\s*$/

/** More of them before the true one are there by no accident. */
const MOST_STARTS = 16

/** Without any of these there is no credential, in whatever dress: most lines end here. */
const MAY_HOLD_CREDENTIAL = /[%\\]|plant_|e[yw]/i

const REPLACEMENT = '[credential]'

function characterOf(digits: string): string {
  return String.fromCharCode(Number.parseInt(digits, 16))
}

/** One layer less. JSON's is the outer one where there is any: a URI has no backslash. */
function unescapeOnce(text: string): string {
  const unescaped = text.replace(JSON_ESCAPES, (_escape, unit, byte) =>
    unit || byte ? characterOf(unit ?? byte) : '\\',
  )
  if (unescaped !== text) return unescaped
  return text.replace(PERCENT_ESCAPES, (_escape, byte) => characterOf(byte))
}

/** By its ends and its first name: JSON.parse throws where it is none, which costs more. */
function isJsonObject(base64url: string): boolean {
  return JSON_OBJECT.test(Buffer.from(base64url, 'base64url').toString('latin1'))
}

/** Whether a part ends with the header of a JWT; other words may be glued to its beginning. */
function endsWithHeader(part: string): boolean {
  const starts = Array.from(part.matchAll(OBJECT_STARTS), ({ index }) => index)
  return starts.length > MOST_STARTS || starts.some((start) => isJsonObject(part.slice(start)))
}

function holdsPlainCredential(text: string): boolean {
  if (OPAQUE.test(text)) return true
  return (text.match(FIRST_PARTS) ?? []).some(endsWithHeader)
}

/** Whether a word, such as a request id, holds a credential as withoutCredentials has it. */
export function holdsCredential(word: string): boolean {
  if (word.length < SHORTEST || !MAY_HOLD_CREDENTIAL.test(word)) return false
  let plain = word
  for (let depth = 0; depth < MOST_ESCAPES_DEEP; depth++) {
    // Asked at each depth, because a mark before a credential may make an escape of its beginning.
    if (holdsPlainCredential(plain)) return true
    const next = unescapeOnce(plain)
    if (next === plain) return false
    plain = next
  }
  return true
}

/**
 * Text with `[credential]` in the place of each word that holds an opaque token of ours, or a part
 * of one with some of its secret, or a JWT (RFC 7519): in either case of letters, glued to other
 * words, percent-encoded or JSON-escaped, once or more. JSON stays JSON. Takes linear time.
 */
export function withoutCredentials(text: string): string {
  if (!MAY_HOLD_CREDENTIAL.test(text)) return text
  return text.replace(WORDS, (word) => (holdsCredential(word) ? REPLACEMENT : word))
}
