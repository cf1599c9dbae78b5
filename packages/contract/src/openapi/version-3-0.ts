import type { JsonWritable } from '../json.ts'

/** The response for statuses to come; progenitor, which takes 3.0 alone, takes no document with it. */
const UNTAKEN = 'default'

/** One member. One that has the name of a keyword and holds an object is no keyword. */
function restateMember(name: string, member: JsonWritable): [name: string, member: JsonWritable] {
  if (name === 'examples' && Array.isArray(member)) return ['example', member[0] ?? null]
  if (name === 'const' && typeof member === 'string') return ['enum', [member]]
  return [name, restateFor30(member)]
}

/**
 * A part of the document in the terms of OpenAPI 3.0, whose schemas have one `example` and no
 * `const`. Of what the document uses, nothing else differs, so the part says the same of each
 * status that there is.
 */
export function restateFor30(part: JsonWritable): JsonWritable {
  if (Array.isArray(part)) return part.map(restateFor30)
  if (typeof part !== 'object' || part === null) return part
  const restated = Object.entries(part).flatMap(([name, member]) =>
    member === undefined || name === UNTAKEN ? [] : [restateMember(name, member)],
  )
  return Object.fromEntries(restated)
}
