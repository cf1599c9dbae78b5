import { basename, dirname, join } from 'node:path'

/** `plants`, `.rejects.2` where it is a file of rejects itself, `.csv`, `.gz` */
const NAME = /^(?<stem>.+?)(?:\.rejects(?:\.\d+)?)?(?<ending>\.[^.]+?)??(?:\.gz)?$/i

/**
 * Where the rejects of a file may go, best first: `plants.rejects.csv`, `plants.rejects.2.csv`, …
 * beside it; for `-` in the current folder. The file itself is never among them.
 */
export function* rejectsPathsOf(path: string, format: string): Generator<string> {
  const name = path === '-' ? 'stdin' : basename(path)
  const { stem = name, ending = `.${format}` } = NAME.exec(name)?.groups ?? {}
  for (let number = 1; ; number++) {
    const own = `${stem}.rejects${number === 1 ? '' : `.${number}`}${ending}`
    if (own !== name) yield join(path === '-' ? '' : dirname(path), own)
  }
}
