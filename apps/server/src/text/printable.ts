/**
 * What a terminal obeys instead of showing it, or what ends a line for some viewer: controls (C0,
 * DEL, C1), marks that nobody sees, such as those of direction, and separators of lines and
 * paragraphs; and halves of surrogate pairs. By Unicode's General_Category (UAX #44).
 */
const UNSEEN = /[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/** A line feed that is neither a text's end nor before an indented line, as our own texts have it. */
const BREAK = /\n(?! {2}|$)/g

/** Writes UTF-16 units as JSON does, so that they are seen and not obeyed. */
export function escapeUnits(text: string): string {
  return Array.from({ length: text.length }, (_, index) => {
    return `\\u${text.charCodeAt(index).toString(16).padStart(4, '0')}`
  }).join('')
}

/** Text that a terminal shows and does not obey; lines stay lines, and JSON the same value. */
export function printable(text: string): string {
  return text.replace(UNSEEN, escapeUnits)
}

/** The same for text that is one line, whatever was put into it, and maybe indented ones below. */
export function printableLine(text: string): string {
  return printable(text).replace(BREAK, escapeUnits)
}
