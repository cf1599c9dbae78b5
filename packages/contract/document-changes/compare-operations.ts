import { errors } from './compare-errors.ts'
import { entries, findingOf, members, named, type Rule, weighing } from './compare-members.ts'
import { type Side, schemas } from './compare-schemas.ts'
import { isAbsent, keysOfBoth, listOf, type Part, stepInto } from './part.ts'

/** A member that says `true` where something must be there; without it, it need not. */
function required(side: Side): Rule {
  return function* (was, is, context) {
    const isRequired = is.value === true
    if ((was.value === true) === isRequired) return
    const isBreaking = isRequired === (side === 'request')
    const change = isRequired ? 'became-required' : 'became-optional'
    yield findingOf(isBreaking ? 'breaking' : 'additive', change, context, was, is)
  }
}

function content(side: Side): Rule {
  const body = named(side, members({ schema: schemas(side) }))
  // A caller that knows one type of answer cannot read another.
  const added = side === 'request' ? 'additive' : 'breaking'
  return named(`${side}-media-type`, entries({ removed: 'breaking', added, both: body }))
}

const requestBody = named(
  'request-body',
  members({ required: required('request'), content: content('request') }),
)

const header = members({
  required: required('response'),
  schema: schemas('response'),
  deprecated: weighing('additive'),
})

const headers = named(
  'response-header',
  entries({ removed: 'breaking', added: 'additive', both: header }),
)

const response = members({ headers, content: content('response') })

/** A caller takes any status from 400 on as an Error; another success it does not know. */
function isFailure(status: string): boolean {
  return /^[45]/.test(status)
}

const responses = named(
  'response',
  entries({
    removed: 'breaking',
    added: (status) => (isFailure(status) ? 'additive' : 'breaking'),
    both: response,
  }),
)

const parameter = members({
  required: required('request'),
  schema: schemas('request'),
  deprecated: weighing('additive'),
})

/** Parameters are told apart by where they stand and their name, not by their order. */
const parameters: Rule = function* (was, is, context) {
  const before = parametersOf(was)
  const after = parametersOf(is)
  for (const [key, part] of before) {
    const kept = after.get(key)
    if (kept === undefined) yield findingOf('breaking', 'removed', context, part, nothing(part))
    else yield* parameter(part, kept, context)
  }
  for (const [key, part] of after) {
    if (before.has(key)) continue
    const isRequired = stepInto(part, 'required').value === true
    const weight = isRequired ? 'breaking' : 'additive'
    const change = isRequired ? 'required-added' : 'added'
    yield findingOf(weight, change, context, nothing(part), part)
  }
}

function parametersOf(list: Part): Map<string, Part> {
  const parts = listOf(list).map((_, index) => stepInto(list, String(index)))
  return new Map(
    parts.map((part) => [`${stepInto(part, 'in').value} ${stepInto(part, 'name').value}`, part]),
  )
}

function nothing(part: Part): Part {
  return { ...part, value: undefined }
}

const operation = members({
  parameters: named('request-parameter', parameters),
  requestBody,
  responses,
  deprecated: weighing('additive'),
})

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']

function comparePath(path: string): Rule {
  const operations = METHODS.map((method): [string, Rule] => [
    method,
    (was, is, context) => {
      const subject = `${method.toUpperCase()} ${path}`
      return compareOperation(was, is, { ...context, subject })
    },
  ])
  return members(Object.fromEntries(operations))
}

const compareOperation: Rule = function* (was, is, context) {
  if (isAbsent(is)) yield findingOf('breaking', 'removed', context, was, is)
  else if (isAbsent(was)) yield findingOf('additive', 'added', context, was, is)
  else {
    yield* operation(was, is, context)
    yield* errors(was, is, { ...context, what: 'error' })
  }
}

/** Compares all operations, by path and method. */
export const paths: Rule = function* (was, is, context) {
  for (const path of keysOfBoth(was, is)) {
    const compare = comparePath(path)
    yield* compare(stepInto(was, path), stepInto(is, path), { ...context, what: 'operation' })
  }
}
