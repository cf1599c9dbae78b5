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
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  const { message, stack, cause } = value as Error
  return [message, stack, cause, ...Object.entries(value).flat()].flatMap(textsOf)
}

/** What a console prints, hidden members included; a browser has no such function. */
function inspect(value: unknown): string[] {
  const util = globalThis.process?.getBuiltinModule?.('node:util')
  const hidden = { depth: Number.POSITIVE_INFINITY, showHidden: true, getters: true }
  return util === undefined ? [] : [util.inspect(value), util.inspect(value, hidden)]
}

/** The first text by which a value shows eight characters in a row of a secret, if any. */
export function findSecret(value: unknown, secret: string): string | undefined {
  const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]
  const pieces = new Set(forms.flatMap(piecesOf))
  const texts = [String(value), ...inspect(value), ...textsOf(value)]
  return texts.find((text) => piecesOf(text).some((piece) => pieces.has(piece)))
}

/** The first text of an error that holds what a terminal would obey, if any. */
export function findUnseen(value: unknown): string | undefined {
  return textsOf(value).find((text) => {
    const isForged = text.split('\n').some((line, at) => at > 0 && !line.startsWith('    at '))
    return UNSEEN.test(text) || isForged
  })
}
