/** A record without its quotes. */
export type CsvFields = readonly string[]

/** The end of a record within bytes (that of its line break is not counted), or why it is none. */
export type CsvRead =
  | { readonly end: number; readonly fields: CsvFields }
  | { readonly brokenAt: number; readonly problem: string }
  | 'more bytes'

export const LINE_FEED = 0x0a
export const CARRIAGE_RETURN = 0x0d
export const QUOTE = 0x22

/** Far more than any file of plants has; each costs memory, and an empty one no byte of the limit. */
const MOST_FIELDS = 1_024

const TOO_MANY = `has more than ${MOST_FIELDS} fields`
const TEXT_BEHIND = 'has text behind a closing quote'
const INSIDE = 'has a quote inside a field that is not quoted'
const LONE_RETURN = 'has a carriage return outside quotes'
export const NEVER_CLOSED = 'has a quote that is never closed'

/** The fields of a line without a quote in it, or its problem; no fields without a delimiter. */
export function splitLine(line: Buffer, delimiter: string | undefined): CsvFields | string {
  if (delimiter === undefined) return []
  const text = line.toString()
  if (text.includes('\r')) return LONE_RETURN
  const fields = text.split(delimiter, MOST_FIELDS + 1)
  return fields.length > MOST_FIELDS ? TOO_MANY : fields
}

function isAt(bytes: Buffer, at: number, text: Buffer): boolean {
  return bytes[at] === text[0] && bytes.subarray(at, at + text.length).equals(text)
}

const ENDS_OF_PLAIN: readonly (number | undefined)[] = [LINE_FEED, CARRIAGE_RETURN, QUOTE]

/** A field, and where it ends with its quotes; undefined where they are not closed. */
function readField(bytes: Buffer, at: number, delimiter: Buffer) {
  if (bytes[at] === QUOTE) {
    let close = bytes.indexOf(QUOTE, at + 1)
    while (close >= 0 && bytes[close + 1] === QUOTE) close = bytes.indexOf(QUOTE, close + 2)
    if (close < 0) return undefined
    return { text: bytes.toString('utf8', at + 1, close).replaceAll('""', '"'), end: close + 1 }
  }
  let end = at
  const isPlain = () => !ENDS_OF_PLAIN.includes(bytes[end]) && !isAt(bytes, end, delimiter)
  while (end < bytes.length && isPlain()) end++
  return { text: bytes.toString('utf8', at, end), end }
}

/**
 * Reads the record that bytes begin with, by RFC 4180 §2. `isWhole`: whether nothing follows these
 * bytes; else more may be needed.
 */
export function readQuotedRecord(bytes: Buffer, separator: string, isWhole: boolean): CsvRead {
  const delimiter = Buffer.from(separator)
  const fields: string[] = []
  for (let at = 0; ; at += delimiter.length) {
    const isQuoted = bytes[at] === QUOTE
    const field = readField(bytes, at, delimiter)
    if (field === undefined) {
      return isWhole ? { brokenAt: bytes.length + 1, problem: NEVER_CLOSED } : 'more bytes'
    }
    fields.push(field.text)
    at = field.end
    if (fields.length > MOST_FIELDS) return { brokenAt: at, problem: TOO_MANY }
    if (isAt(bytes, at, delimiter)) continue
    const isReturn = bytes[at] === CARRIAGE_RETURN
    const behind = isReturn ? at + 1 : at
    if (behind + delimiter.length > bytes.length && !isWhole) return 'more bytes'
    if (behind >= bytes.length || bytes[behind] === LINE_FEED) return { end: at, fields }
    return { brokenAt: at, problem: isReturn ? LONE_RETURN : isQuoted ? TEXT_BEHIND : INSIDE }
  }
}
