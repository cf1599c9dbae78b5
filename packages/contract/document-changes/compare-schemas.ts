import { compareKeyword, type Effect } from './compare-keywords.ts'
import { type Context, findingOf, type Rule, words } from './compare-members.ts'
import type { Finding, Weight } from './finding.ts'
import type { Part } from './part.ts'
import { textOf } from './part.ts'
import { type Shape, shapeOf } from './shape.ts'

/** Who writes what a schema describes: callers in a request, the service in a response. */
export type Side = 'request' | 'response'

/** The service may take more than before, and may answer less, but not the other way round. */
const weights: Readonly<Record<Side, Readonly<Record<Effect, Weight>>>> = {
  request: { widened: 'additive', narrowed: 'breaking', changed: 'breaking' },
  response: { widened: 'breaking', narrowed: 'additive', changed: 'breaking' },
}

interface SchemaContext extends Context {
  readonly side: Side
}

/** A schema in the older and in the newer document. */
interface Shapes {
  readonly was: Shape
  readonly is: Shape
}

function* compareKeywords({ was, is }: Shapes, context: SchemaContext): Iterable<Finding> {
  for (const name of new Set([...was.keywords.keys(), ...is.keywords.keys()])) {
    const absent = { document: null, pointer: `${is.pointer}/${name}`, value: undefined }
    const before = was.keywords.get(name) ?? absent
    const after = is.keywords.get(name) ?? absent
    if (textOf(before) === textOf(after)) continue
    const effect = name in words ? 'changed' : compareKeyword(name, before, after)
    const weight = name in words ? 'editorial' : weights[context.side][effect]
    yield findingOf(weight, `${name}-${effect}`, context, before, after)
  }
}

function* compareRequired(name: string, { was, is }: Shapes, context: SchemaContext) {
  const isRequired = is.required.has(name)
  if (was.required.has(name) === isRequired) return
  const weight = weights[context.side][isRequired ? 'narrowed' : 'widened']
  const change = isRequired ? 'property-became-required' : 'property-became-optional'
  yield placeOf(weight, change, context, is.properties.get(name))
}

function placeOf(weight: Weight, change: string, context: Context, part: Part | undefined) {
  const { subject, what } = context
  return { weight, change: `${what}-${change}`, subject, pointer: part?.pointer ?? '#' }
}

function* compareProperties({ was, is }: Shapes, context: SchemaContext): Iterable<Finding> {
  for (const [name, before] of was.properties) {
    const after = is.properties.get(name)
    if (after === undefined) {
      // What a caller sends would be lost, and what a caller reads would be missing.
      yield placeOf('breaking', 'property-removed', context, before)
      continue
    }
    yield* compareRequired(name, { was, is }, context)
    yield* compareShapes({ was: shapeOf(before), is: shapeOf(after) }, context)
  }
  for (const [name, added] of is.properties) {
    if (was.properties.has(name)) continue
    if (context.side === 'request' && is.required.has(name)) {
      yield placeOf('breaking', 'required-property-added', context, added)
    } else yield placeOf('additive', 'property-added', context, added)
  }
}

function* compareShapes(shapes: Shapes, context: SchemaContext): Iterable<Finding> {
  yield* compareKeywords(shapes, context)
  yield* compareProperties(shapes, context)
}

/** Compares what a schema allows; a request may come to allow more, a response less. */
export function schemas(side: Side): Rule {
  return (was, is, context) =>
    compareShapes({ was: shapeOf(was), is: shapeOf(is) }, { ...context, side })
}
