import type { JsonValue } from '../src/json.ts'
import { entries, members, named, type Rule, weighing } from './compare-members.ts'
import { paths } from './compare-operations.ts'
import { type Finding, formatFinding } from './finding.ts'
import { wholeOf } from './part.ts'

const editorial = weighing('editorial')

/** The version is what the findings are held against. */
const ignored: Rule = () => []

const info = named(
  'info',
  members({
    version: ignored,
    license: editorial,
    contact: editorial,
    termsOfService: editorial,
  }),
)

/** Made clients name their types for components; what is in one is compared where it is used. */
const names = entries({ removed: 'breaking', added: 'additive', both: ignored })

const components = members({
  schemas: named('schema', names),
  headers: named('header', names),
  responses: named('response-component', names),
  examples: editorial,
  securitySchemes: named(
    'security-scheme',
    entries({ removed: 'breaking', added: 'additive', both: members({}) }),
  ),
})

const document = members({ info, tags: editorial, paths, components })

/**
 * What differs between two OpenAPI documents, the breaking changes first. A change that no rule
 * knows is breaking. Numbers are compared with every digit, so the documents must be read by
 * `decodeJson`.
 */
export function compareDocuments(was: JsonValue, is: JsonValue): Finding[] {
  const context = { subject: 'the document', what: 'document' }
  const found = [...document(wholeOf(was), wholeOf(is), context)]
  // A schema that many responses share is found once for each.
  const unique = new Map(found.map((finding) => [formatFinding(finding), finding]))
  const order = ['breaking', 'additive', 'editorial']
  return [...unique.values()].toSorted(
    (one, other) => order.indexOf(one.weight) - order.indexOf(other.weight),
  )
}
