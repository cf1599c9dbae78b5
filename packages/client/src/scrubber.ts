/** Takes secrets out of words that came from elsewhere. */
export interface Scrubber {
  /** From now on this is hidden too. */
  hide(secret: string): void
  /** The text without them; of a very long one, its beginning. Never throws and never takes long. */
  scrub(text: string): string
}

const CREDENTIAL = /\bbearer\s+[^\s"',;<>]+/gi

/** How JSON, URLs, HTML and UTF-16 read as bytes write a character that could stand as it is. */
const ESCAPE =
  /\\u([\da-f]{4})|\\x([\da-f]{2})|%([\da-f]{2})|&#x([\da-f]{1,6});|&#(\d{1,7});|&([a-z]{2,6});|\\([^\0])|\0/gi

/** HTML's names of what a token may hold besides letters and digits. */
const NAMES =
  'excl! quot" num# dollar$ percnt% amp& apos\' lpar( rpar) ast* plus+ comma, period. sol/ colon: semi; lt< equals= gt> quest? commat@ lsqb[ lbrack[ bsol\\ rsqb] rbrack] hat^ lowbar_ grave` lcub{ lbrace{ verbar| vert| rcub} rbrace}'
const named = new Map(NAMES.split(' ').map((name) => [name.slice(0, -1), name.slice(-1)]))

/** A text, some of its escapes undone, and where in the original each character and the end stood. */
interface Reading {
  readonly text: string
  readonly origins?: readonly number[]
}

function characterOf(match: RegExpExecArray): string | undefined {
  const [, unicode, byte, percent, hex, decimal, name, escaped] = match
  const digits = unicode ?? byte ?? percent ?? hex
  if (digits !== undefined) return String.fromCharCode(Number.parseInt(digits, 16))
  if (decimal !== undefined) return String.fromCharCode(Number(decimal))
  return name === undefined ? (escaped ?? '') : named.get(name)
}

/** The same text with each escape undone once; undefined where there is none. */
function undoEscapes({ text, origins }: Reading): Reading | undefined {
  let plain = ''
  const starts: number[] = []
  let next = 0
  const keep = (end: number) => {
    plain += text.slice(next, end)
    for (; next < end; next++) starts.push(origins?.[next] ?? next)
  }
  for (const match of text.matchAll(ESCAPE)) {
    const character = characterOf(match)?.toLowerCase().slice(0, 1)
    if (character === undefined) continue
    keep(match.index)
    plain += character
    if (character !== '') starts.push(origins?.[next] ?? next)
    next += match[0].length
  }
  if (next === 0) return undefined
  keep(text.length)
  starts.push(origins?.[text.length] ?? text.length)
  return { text: plain, origins: starts }
}

/** A quote of a quote is escaped once more for each; more than this does not happen. */
const MAX_READINGS = 4

/** The text as it is and with its escapes undone, without regard to case. */
function readingsOf(original: string): Reading[] {
  // The only character whose lower case is longer than itself.
  let reading: Reading | undefined = { text: original.replaceAll('\u0130', 'i').toLowerCase() }
  const readings: Reading[] = []
  while (reading !== undefined && readings.length < MAX_READINGS) {
    readings.push(reading)
    reading = undoEscapes(reading)
  }
  return readings
}

/** Where a secret stands in the original of a reading, as pairs of a start and an end. */
function* findAll(
  { text, origins }: Reading,
  secret: string,
): Generator<readonly [number, number]> {
  for (let at = text.indexOf(secret); at !== -1; at = text.indexOf(secret, at + secret.length)) {
    const end = at + secret.length
    yield [origins?.[at] ?? at, origins?.[end] ?? end]
  }
}

const HIDDEN = '[hidden]'

/** Of a longer text only the beginning is read, and less of it shown, lest it ends within a secret. */
const MAX_READ = 16_384
const MAX_SHOWN = 1_024

function replaceRanges(text: string, ranges: (readonly [number, number])[]): string {
  let left = ''
  let next = 0
  for (const [start, end] of ranges.sort(([one], [other]) => one - other)) {
    if (start >= next) left += text.slice(next, start) + HIDDEN
    next = Math.max(next, end)
  }
  return left + text.slice(next)
}

/** A scrubber that hides every bearer credential, and each secret that it was given, in any case. */
export function createScrubber(): Scrubber {
  const secrets = new Set<string>()
  return {
    hide(secret) {
      for (const { text } of readingsOf(secret)) if (text !== '') secrets.add(text)
    },
    scrub(text) {
      const read = text.slice(0, MAX_READ)
      const ranges = readingsOf(read).flatMap((reading) =>
        [...secrets].flatMap((secret) => [...findAll(reading, secret)]),
      )
      const left = replaceRanges(read, ranges).replace(CREDENTIAL, HIDDEN)
      return text.length > MAX_READ ? `${left.slice(0, MAX_SHOWN)}…` : left
    },
  }
}
