/** A piece of this length is enough to know a secret by, and too long to turn up by chance. */
const PIECE_LENGTH = 8

/** What a terminal obeys: controls but the ends of a stack's lines, marks of direction, separators. */
const UNSEEN = /[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}]/u

function piecesOf(text: string): string[] {
  const lower = text.toLowerCase()
  const count = Math.max(0, lower.length - PIECE_LENGTH + 1)
  return Array.from({ length: count }, (_, start) => lower.slice(start, start + PIECE_LENGTH))
}

/** The texts in an error or event, and in its causes. */
export function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  const { message, stack, cause } = value as Error
  return [message, stack, cause, ...Object.entries(value).flat()].flatMap(textsOf)
}

/** What a console prints of a value, hidden members included; a browser has no such function. */
export function printsOf(value: unknown): string[] {
  const util = globalThis.process?.getBuiltinModule?.('node:util')
  const hidden = { depth: Number.POSITIVE_INFINITY, showHidden: true, getters: true }
  return [String(value), ...(util ? [util.inspect(value), util.inspect(value, hidden)] : [])]
}

/** The first text that holds eight characters in a row of a secret, if any. */
export function findIn(texts: readonly string[], secret: string): string | undefined {
  const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]
  const pieces = new Set(forms.flatMap(piecesOf))
  return texts.find((text) => piecesOf(text).some((piece) => pieces.has(piece)))
}

/** The first text by which a value shows a secret, if any. */
export function findSecret(value: unknown, secret: string): string | undefined {
  return findIn([...printsOf(value), ...textsOf(value)], secret)
}

/** Whether a terminal would obey something in the text of an error. */
export function isUnsafe(text: string): boolean {
  const isForged = text.split('\n').some((line, at) => at > 0 && !line.startsWith('    at '))
  return UNSEEN.test(text) || isForged
}
