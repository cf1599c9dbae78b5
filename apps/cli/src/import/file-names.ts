import { basename, dirname, join, relative } from 'node:path'

/** `plants`, `.rejects.2` where it is a file of rejects itself, `.csv`, `.gz` */
const NAME =
  /^(?<stem>.+?)(?<rejects>\.rejects(?:\.(?<number>\d+))?)?(?<ending>\.[^.]+?)??(?:\.gz)?$/i

/** Where the rejects of a file go: `plants.rejects.csv`, and of that one `plants.rejects.2.csv`. */
export function rejectsPathOf(path: string): string {
  const { stem, rejects, number = '1', ending = '' } = NAME.exec(basename(path))?.groups ?? {}
  const next = rejects === undefined ? '' : `.${BigInt(number) + 1n}`
  return join(dirname(path), `${stem ?? basename(path)}.rejects${next}${ending}`)
}

/** Where the import of a file keeps its notes. */
export function journalPathOf(path: string): string {
  return `${path}.import-journal`
}

/** A path as a person would write it here. */
export function shortenPath(path: string): string {
  const short = relative('', path)
  return short.startsWith('..') ? path : short
}
