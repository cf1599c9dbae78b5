import {
  contract,
  type ErrorName,
  encodeJson,
  errorTable,
  INT64_MAX,
  NewPlant,
} from '@plant-store/contract'
import { errorTexts } from '@plant-store/contract/error-texts'
import { createOpenApiDocument } from '@plant-store/contract/openapi'
import { writeCurl } from './curl.ts'

const { method, path } = contract.createPlant

/** Where a server listens that nobody has configured. */
const FIRST_URL = `http://127.0.0.1:3000${path}`

/** What the page shows before its script has run, and without it. */
const FIRST_PLANT = `{
  "id": ${INT64_MAX - 1n},
  "name": "Fern",
  "tag": "indoor"
}`

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? '')
}

interface Schema {
  readonly $ref?: string
  readonly allOf?: readonly Schema[]
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, { readonly description: string }>>
}

/** The fields of a schema of the document: name, whether it must be there, and its rule. */
function fieldsOf(schemas: Readonly<Record<string, Schema>>, schema: Schema): string[][] {
  const { $ref, allOf = [], required = [], properties = {} } = schema
  const own = Object.entries(properties).map(([name, { description }]) => [
    name,
    required.includes(name) ? 'required' : 'optional',
    description,
  ])
  const held = $ref === undefined ? allOf : [schemas[$ref.split('/').at(-1) ?? ''] ?? {}]
  return [...own, ...held.flatMap((part) => fieldsOf(schemas, part))]
}

function writeFields(): string {
  const { components } = createOpenApiDocument() as unknown as {
    components: { schemas: Readonly<Record<string, Schema>> }
  }
  const { schemas } = components
  const fields = new Map(fieldsOf(schemas, schemas.NewPlant ?? {}).map((row) => [row[0], row]))
  const rows = Object.keys(NewPlant.shape).map((name) => fields.get(name) ?? [])
  return rows
    .map(
      ([name = '', must = '', rule = '']) =>
        `<tr><th scope="row"><code>${name}</code></th><td>${must}</td><td>${escapeHtml(rule)}</td></tr>`,
    )
    .join('\n')
}

function writeErrors(): string {
  const names = Object.keys(errorTable) as ErrorName[]
  const rows = names.map((name) => {
    const { code, status, stored } = errorTable[name]
    const { meaning } = errorTexts[name]
    return `<tr id="${name}" data-code="${code}" data-stored="${stored}"><th scope="row"><code>${code}</code> <code>${name}</code></th><td>${status}</td><td>${escapeHtml(meaning)}</td><td>${stored}</td></tr>`
  })
  return rows.join('\n')
}

/** index.html, with what the contract says in its places. */
export function fillIndex(template: string): string {
  const places: Readonly<Record<string, string>> = {
    fields: writeFields(),
    errors: writeErrors(),
    operation: `${method} ${path}`,
    action: path.slice(1),
    plant: escapeHtml(FIRST_PLANT),
    answer: escapeHtml(encodeJson({ name: 'Fern', tag: 'indoor' })),
    command: escapeHtml(writeCurl(FIRST_URL, FIRST_PLANT)),
  }
  return template.replace(/\{\{(\w+)\}\}/g, (_place, name: string) => {
    const text = places[name]
    if (text === undefined) throw new Error(`nothing fills {{${name}}}`)
    return text
  })
}
