/** A piece of this length is enough to know a secret by, and too long to turn up by chance. */
const PIECE_LENGTH = 8

type Inspect = (value: unknown, options: object) => string

/** What a console prints; a browser has no such function, there the walk has to do. */
function findInspect(): Inspect | undefined {
  const host = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } }
  const util = host.process?.getBuiltinModule?.('node:util') as { inspect: Inspect } | undefined
  return util?.inspect
}

function* piecesOf(text: string): Generator<string> {
  const lower = text.toLowerCase()
  for (let start = 0; start + PIECE_LENGTH <= lower.length; start++) {
    yield lower.slice(start, start + PIECE_LENGTH)
  }
}

function memberOf(value: object, key: PropertyKey): unknown {
  try {
    return Reflect.get(value, key)
  } catch {
    return undefined
  }
}

/** Every text that can be reached from a value: keys, members hidden or not, entries, causes. */
function* textsWithin(value: unknown, visited: Set<unknown>): Generator<string> {
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

function* textsOf(value: unknown): Generator<string> {
  yield String(value)
  yield JSON.stringify(value, (_key, member) =>
    typeof member === 'bigint' ? String(member) : member,
  ) ?? ''
  yield* textsWithin(value, new Set())
  if (value instanceof Error) yield `${value.stack} ${value.message} ${value.cause}`
  const inspect = findInspect()
  if (inspect === undefined) return
  yield inspect(value, {})
  yield inspect(value, { depth: Number.POSITIVE_INFINITY, showHidden: true, getters: true })
}

/** The first text by which a value shows eight characters in a row of a secret, if any. */
export function findSecret(value: unknown, secret: string): string | undefined {
  const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]
  const pieces = new Set(forms.flatMap((form) => [...piecesOf(form)]))
  for (const text of textsOf(value)) {
    for (const piece of piecesOf(text)) if (pieces.has(piece)) return text
  }
  return undefined
}

/** What a terminal obeys: controls but those of a stack's own lines, marks of direction, separators. */
const UNSEEN = /[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}]/u

/** The first text of an error that holds what a terminal would obey, if any. */
export function findUnseen(value: unknown): string | undefined {
  for (const text of textsWithin(value, new Set())) {
    const [first = '', ...stack] = text.split('\n')
    const isForged = stack.some((line) => !line.startsWith('    at '))
    if (UNSEEN.test(first) || stack.some((line) => UNSEEN.test(line)) || isForged) return text
  }
  return undefined
}
