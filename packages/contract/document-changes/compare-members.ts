import type { Finding, Weight } from './finding.ts'
import { isAbsent, keysOfBoth, type Part, stepInto, textOf } from './part.ts'

/** What is compared, as findings name it. */
export interface Context {
  /** The operation, or `the document`. */
  readonly subject: string
  /** The beginning of the names of changes here, such as `request` or `response-header`. */
  readonly what: string
}

/** How two values of the same place are compared. */
export type Rule = (was: Part, is: Part, context: Context) => Iterable<Finding>

/** A longer value would hide the change that it belongs to. */
const MAX_VALUE_LENGTH = 40

function describeValues(was: Part, is: Part): string | undefined {
  const texts = [was, is].map((part) => textOf(part) || 'nothing')
  const areShort = texts.every((text) => text.length <= MAX_VALUE_LENGTH)
  return areShort ? texts.join(' → ') : undefined
}

/** A finding of two values, where they are in the newer document if it has one. */
export function findingOf(
  weight: Weight,
  change: string,
  { subject, what }: Context,
  was: Part,
  is: Part,
): Finding {
  const { pointer } = isAbsent(is) ? was : is
  const detail = describeValues(was, is)
  const place = { weight, change: `${what}-${change}`, subject, pointer }
  return detail === undefined ? place : { ...place, detail }
}

/** A rule for what weighs the same however it changes. */
export function weighing(weight: Weight): Rule {
  return function* (was, is, context) {
    if (textOf(was) === textOf(is)) return
    const name = was.pointer.slice(was.pointer.lastIndexOf('/') + 1)
    yield findingOf(weight, `${name}-changed`, context, was, is)
  }
}

/** What has no rule is taken to break callers, so that nothing passes by mistake. */
const withoutRule = weighing('breaking')

const editorial = weighing('editorial')

/** The members that are words for people, wherever they stand. */
export const words: Readonly<Record<string, Rule>> = {
  title: editorial,
  summary: editorial,
  description: editorial,
  example: editorial,
  examples: editorial,
  externalDocs: editorial,
}

/** Compares two objects, each member by the rule of its name. */
export function members(rules: Readonly<Record<string, Rule>>): Rule {
  const all: Readonly<Record<string, Rule>> = { ...words, ...rules }
  return function* (was, is, context) {
    for (const key of keysOfBoth(was, is)) {
      const rule = Object.hasOwn(all, key) ? all[key] : undefined
      yield* (rule ?? withoutRule)(stepInto(was, key), stepInto(is, key), context)
    }
  }
}

/** What may happen to an entry of a map. */
export interface EntryRules {
  readonly removed: Weight
  readonly added: Weight | ((key: string) => Weight)
  readonly both: Rule
}

/** Compares two maps, whose keys the writer of the document chose, such as responses by status. */
export function entries({ removed, added, both }: EntryRules): Rule {
  return function* (was, is, context) {
    for (const key of keysOfBoth(was, is)) {
      const [before, after] = [stepInto(was, key), stepInto(is, key)]
      if (isAbsent(after)) yield findingOf(removed, 'removed', context, before, after)
      else if (isAbsent(before)) {
        const weight = typeof added === 'string' ? added : added(key)
        yield findingOf(weight, 'added', context, before, after)
      } else yield* both(before, after, context)
    }
  }
}

/** The same rule, its changes named for another thing. */
export function named(what: string, rule: Rule): Rule {
  return (was, is, context) => rule(was, is, { ...context, what })
}
