import { words } from './compare-members.ts'
import { keysOf, listOf, type Part, stepInto, textOf } from './part.ts'

/** A schema with all that its `allOf` and references bring. */
export interface Shape {
  readonly pointer: string
  readonly properties: ReadonlyMap<string, Part>
  readonly required: ReadonlySet<string>
  /** Every other keyword. */
  readonly keywords: ReadonlyMap<string, Part>
}

const STRUCTURE = new Set(['allOf', 'properties', 'required'])

function merge(maps: readonly ReadonlyMap<string, Part>[]): Map<string, Part> {
  const merged = new Map<string, Part>()
  for (const [name, part] of maps.flatMap((map) => [...map])) {
    const other = merged.get(name)
    if (other === undefined) merged.set(name, part)
    else if (!(name in words) && textOf(other) !== textOf(part)) {
      throw new Error(`no rule compares ${other.pointer} together with ${part.pointer}`)
    }
  }
  return merged
}

function membersOf(part: Part): [string, Part][] {
  return keysOf(part).map((name) => [name, stepInto(part, name)])
}

/**
 * What a schema says in all.
 * @throws Error where parts of an `allOf` say different things of one property or keyword.
 */
export function shapeOf(schema: Part): Shape {
  const all = stepInto(schema, 'allOf')
  const inherited = listOf(all).map((_, index) => shapeOf(stepInto(all, String(index))))
  const properties = new Map(membersOf(stepInto(schema, 'properties')))
  const keywords = new Map(membersOf(schema).filter(([name]) => !STRUCTURE.has(name)))
  const required = listOf(stepInto(schema, 'required')).map(String)
  return {
    pointer: schema.pointer,
    properties: merge([properties, ...inherited.map((shape) => shape.properties)]),
    required: new Set([...required, ...inherited.flatMap((shape) => [...shape.required])]),
    keywords: merge([keywords, ...inherited.map((shape) => shape.keywords)]),
  }
}
