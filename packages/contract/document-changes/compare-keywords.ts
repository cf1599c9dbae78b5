import { isAbsent, listOf, type Part } from './part.ts'

/** What becomes of the values that a schema allows, when one of its keywords changes. */
export type Effect = 'widened' | 'narrowed' | 'changed'

type Compare = (was: Part, is: Part) => Effect

/** A keyword that only ever takes values away: where there is none, everything is allowed. */
function restriction(compare: Compare): Compare {
  return (was, is) => {
    if (isAbsent(is)) return 'widened'
    return isAbsent(was) ? 'narrowed' : compare(was, is)
  }
}

function compareSets(was: ReadonlySet<unknown>, is: ReadonlySet<unknown>): Effect {
  if ([...was].every((member) => is.has(member))) return 'widened'
  return [...is].every((member) => was.has(member)) ? 'narrowed' : 'changed'
}

/** The types that a schema allows; every integer is a number too. */
function typesOf(part: Part): Set<unknown> {
  const types = new Set<unknown>(Array.isArray(part.value) ? part.value : [part.value])
  return types.has('number') ? types.add('integer') : types
}

/** A bound beyond 2^53 is a bigint; JavaScript compares it with a number exactly. */
function boundOf({ value }: Part): number | bigint {
  return value as number | bigint
}

const upperBound = restriction((was, is) => (boundOf(is) > boundOf(was) ? 'widened' : 'narrowed'))
const lowerBound = restriction((was, is) => (boundOf(is) < boundOf(was) ? 'widened' : 'narrowed'))

const comparisons: Readonly<Record<string, Compare>> = {
  type: restriction((was, is) => compareSets(typesOf(was), typesOf(is))),
  enum: restriction((was, is) => compareSets(new Set(listOf(was)), new Set(listOf(is)))),
  // Whether one pattern allows more than another cannot be told.
  pattern: restriction(() => 'changed'),
  maximum: upperBound,
  exclusiveMaximum: upperBound,
  maxLength: upperBound,
  maxItems: upperBound,
  maxProperties: upperBound,
  minimum: lowerBound,
  exclusiveMinimum: lowerBound,
  minLength: lowerBound,
  minItems: lowerBound,
  minProperties: lowerBound,
}

/**
 * What a keyword that differs does to the values that its schema allows. A format has no order,
 * because made clients choose their types by it; nor has a keyword that is not known here.
 */
export function compareKeyword(name: string, was: Part, is: Part): Effect {
  const compare = Object.hasOwn(comparisons, name) ? comparisons[name] : undefined
  return compare?.(was, is) ?? 'changed'
}
