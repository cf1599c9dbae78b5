/**
 * Characters that a terminal obeys instead of showing, or that end a line in some viewers: controls
 * (C0, DEL, C1), invisible formatting such as marks of direction, separators of lines and paragraphs,
 * and lone surrogates. By Unicode's General_Category (UAX #44).
 */
const UNSEEN = /[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/** A line feed, except at the end of a text and before an indented line: our own texts have those. */
const BREAK = /\n(?! {2}|$)/g

/** Escapes UTF-16 code units as JSON does, so that they are shown and not obeyed. */
export function escapeUnits(text: string): string {
  return text.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Text that a terminal shows and does not obey. Line feeds stay, and JSON keeps its value. */
export function printable(text: string): string {
  return text.replace(UNSEEN, escapeUnits)
}

/** The same for a text of one line, whatever is put into it, and maybe indented lines below it. */
export function printableLine(text: string): string {
  return printable(text).replace(BREAK, escapeUnits)
}
