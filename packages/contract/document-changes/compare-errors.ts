import { findingOf, type Rule } from './compare-members.ts'
import { isAbsent, keysOf, type Part, stepInto } from './part.ts'

/** An error as a document tells it: an example of a response, named for the error. */
interface DocumentedError {
  readonly status: string
  readonly code: Part
}

/** Every error of an operation, by name. */
function errorsOf(operation: Part): Map<string, DocumentedError> {
  const responses = stepInto(operation, 'responses')
  return new Map(
    keysOf(responses).flatMap((status) => {
      const json = stepInto(stepInto(stepInto(responses, status), 'content'), 'application/json')
      const examples = stepInto(json, 'examples')
      return keysOf(examples).flatMap((name): [string, DocumentedError][] => {
        const code = stepInto(stepInto(stepInto(examples, name), 'value'), 'error')
        return isAbsent(code) ? [] : [[name, { status, code }]]
      })
    }),
  )
}

/**
 * Compares the errors of an operation: their numbers never change their meaning, so none may be
 * renumbered, renamed, moved to another status or removed; others may be added.
 */
export const errors: Rule = function* (was, is, context) {
  const before = errorsOf(was)
  const after = errorsOf(is)
  for (const [name, { status, code }] of before) {
    const kept = after.get(name)
    if (kept === undefined) {
      yield findingOf('breaking', 'removed', context, code, { ...code, value: undefined })
      continue
    }
    if (kept.code.value !== code.value) {
      yield findingOf('breaking', 'renumbered', context, code, kept.code)
    }
    if (kept.status !== status) {
      const moved = findingOf('breaking', 'moved', context, code, kept.code)
      yield { ...moved, detail: `${status} → ${kept.status}` }
    }
  }
  for (const [name, { code }] of after) {
    if (before.has(name)) continue
    yield findingOf('additive', 'added', context, { ...code, value: undefined }, code)
  }
}
