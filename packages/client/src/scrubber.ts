/** Takes secrets, and what a terminal would obey, out of a text. Never throws and never takes long. */
export type Scrub = (text: string) => string

const HIDDEN = '[hidden]'

/** Credentials by their shape: a token of the server, and what follows `Bearer` if it has a digit. */
const SHAPES = /plant_[\da-f]{12}[\w-]*|\bbearer\s{1,9}(?=[a-z_.~+/-]{0,99}\d)[^\s"',;<>]+/gi

/** A shorter token is hidden only after `Bearer`, since it may be a part of any word. */
const MIN_LENGTH = 8

/** Of a longer text only the beginning is read, and less of it shown, lest it ends within a secret. */
const MAX_READ = 16_384
const MAX_SHOWN = 1_024

/** What a terminal obeys instead of showing: controls, formatting, separators, lone surrogates. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/** A secret as it is, in JSON and in a URL, in any case. */
function patternOf(secret: string): RegExp {
  const forms = [JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), secret]
  const any = `(?:${forms.map((form) => form.replace(/[^\w%]/g, '\\$&')).join('|')})`
  const isShort = secret.length < MIN_LENGTH
  return new RegExp(isShort ? `(?<=\\bbearer\\s{1,9})${any}(?!\\w)` : any, 'gi')
}

/** Hides what looks like a credential, and each of these secrets in any case. */
export function createScrub(secrets: ReadonlySet<string>): Scrub {
  return (text) => {
    let left = text.slice(0, MAX_READ)
    for (const secret of secrets) left = left.replace(patternOf(secret), HIDDEN)
    left = left.replace(SHAPES, HIDDEN)
    if (text.length > MAX_READ) left = `${left.slice(0, MAX_SHOWN)}…`
    return left.replace(UNSEEN, (one) => `\\u${one.codePointAt(0)?.toString(16).padStart(4, '0')}`)
  }
}
