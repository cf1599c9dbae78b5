/** A piece of this length is enough to know a secret by, and too long to turn up by chance. */
const PIECE_LENGTH = 8

/** What a terminal obeys: controls but those of a stack's own lines, marks of direction, separators. */
const UNSEEN = /[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}]/u

function piecesOf(text: string): string[] {
  const lower = text.toLowerCase()
  const count = Math.max(0, lower.length - PIECE_LENGTH + 1)
  return Array.from({ length: count }, (_, start) => lower.slice(start, start + PIECE_LENGTH))
}

function memberOf(value: object, key: PropertyKey): unknown {
  try {
    return Reflect.get(value, key)
  } catch {
    return undefined
  }
}

/** Every text that can be reached from a value: keys, members hidden or not, entries, causes. */
function* textsWithin(value: unknown, visited = new Set<unknown>()): Generator<string> {
  if (typeof value === 'string') yield value
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return
  if (visited.has(value)) return
  visited.add(value)
  for (const key of Reflect.ownKeys(value)) {
    yield String(key)
    yield* textsWithin(memberOf(value, key), visited)
  }
  if (value instanceof Headers || value instanceof Map || value instanceof Set) {
    yield* textsWithin([...value], visited)
  }
}

/** What a console prints; a browser has no such function, there the walk has to do. */
function inspect(value: unknown): string {
  const util = globalThis.process?.getBuiltinModule?.('node:util')
  const hidden = { depth: Number.POSITIVE_INFINITY, showHidden: true, getters: true }
  return util === undefined ? '' : util.inspect(value) + util.inspect(value, hidden)
}

/** The first text by which a value shows eight characters in a row of a secret, if any. */
export function findSecret(value: unknown, secret: string): string | undefined {
  const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]
  const pieces = new Set(forms.flatMap(piecesOf))
  const texts = [String(value), inspect(value), ...textsWithin(value)]
  return texts.find((text) => piecesOf(text).some((piece) => pieces.has(piece)))
}

/** The first text of an error that holds what a terminal would obey, if any. */
export function findUnseen(value: unknown): string | undefined {
  return [...textsWithin(value)].find((text) => {
    const isForged = text.split('\n').some((line, at) => at > 0 && !line.startsWith('    at '))
    return UNSEEN.test(text) || isForged
  })
}
