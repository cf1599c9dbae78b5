/** One setting or comment, with the lines that quotes and backslashes join to it. */
const ENTRY =
  /[ \t\r\n]*(?:[#;](?:\\[\s\S]|[^\\\r\n])*|([^=\r\n]+)=((?:[ \t]*(?:'[^']*(?:'|$)|"(?:\\[\s\S]|[^"\\])*(?:"|$)))*)[ \t]*((?:\\[\s\S]|[^\\\r\n])*)|[^\r\n]*)(?:[\r\n]|$)/y

const JOINED = /\\[\r\n]/g

function readQuoted(text: string): string {
  return Array.from(
    text.matchAll(/'([^']*)'?|"((?:\\[\s\S]|[^"\\])*)"?/g),
    ([, single, double = '']) => single ?? double.replace(JOINED, '').replace(/\\(["\\`$])/g, '$1'),
  ).join('')
}

/** Blanks at the end go, unless a backslash keeps them. */
function readBare(text: string): string {
  const [kept = ''] = /^(?:\\[\s\S]|[^\\ \t]|[ \t]+(?=[^ \t]))*/.exec(text) ?? []
  return kept.replace(JOINED, '').replace(/\\([\s\S])/g, '$1')
}

/**
 * Reads settings as systemd reads an `EnvironmentFile`. Its form is that of no shell and of no
 * dotenv: a `#` within a value belongs to it, and `$` is a character like others.
 *
 * @see https://www.freedesktop.org/software/systemd/man/systemd.exec.html#EnvironmentFile=
 */
export function parseEnvironmentFile(text: string): Record<string, string> {
  const values: Record<string, string> = {}
  const entry = new RegExp(ENTRY)
  while (entry.lastIndex < text.length) {
    const match = entry.exec(text)
    if (match === null) break
    const [, name = '', quoted = '', rest = ''] = match
    const key = name.trim()
    if (/^[A-Za-z_]\w*$/.test(key)) values[key] = readQuoted(quoted) + readBare(rest)
  }
  return values
}
