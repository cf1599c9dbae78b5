import { contract, type ErrorName, errorTable, INT64_MAX, NewPlant } from '@plant-store/contract'
import { errorTexts } from '@plant-store/contract/error-texts'
import { createOpenApiDocument } from '@plant-store/contract/openapi'
import { curl } from './commands/curl.ts'
import { languages } from './commands/languages.ts'
import { type Lesson, lessons, promises } from './lessons.ts'
import { writePlant, writePlantInLines } from './plant.ts'

/** What the page shows before its script has run, and without it. */
const FIRST_PLANT = { id: INT64_MAX - 1n, name: 'Fern', tag: 'indoor' }

const { method, path } = contract.createPlant

/** Where a server listens that nobody has configured. */
const FIRST_BASE_URL = 'http://127.0.0.1:3000'

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
    const { code, status } = errorTable[name]
    const { meaning, mayBeStored } = errorTexts[name]
    return `<tr id="${name}"><th scope="row"><code>${code}</code> <code>${name}</code></th><td>${status}</td><td>${escapeHtml(meaning)}</td><td>${mayBeStored ? 'perhaps' : 'no'}</td></tr>`
  })
  return rows.join('\n')
}

function writeLesson({ id, label, what, needsStored }: Lesson): string {
  const after = needsStored ? ' class="after-send"' : ''
  return `<li><button type="button" id="lesson-${id}"${after} disabled>${escapeHtml(label)}</button><p>${escapeHtml(what)}</p></li>`
}

function writePromise(title: string, index: number): string {
  const own = lessons.filter(({ promise }) => promise === index)
  const words =
    own.length > 0
      ? `<ul>${own.map(writeLesson).join('')}</ul>`
      : '<p>Press Send. The answer comes after the disk has synced.</p>'
  return `<li><h3>${title}</h3>${words}</li>`
}

function writeTabs(): string {
  const tabs = languages.map(
    ({ name }, index) =>
      `<button type="button" role="tab" id="tab-${index}" aria-controls="program" aria-selected="${index === 0}" tabindex="${index === 0 ? 0 : -1}" disabled>${name}</button>`,
  )
  return tabs.join('\n')
}

/** index.html, with what the contract, the lessons and the languages say in its places. */
export function fillIndex(template: string): string {
  const call = { baseUrl: FIRST_BASE_URL, body: writePlant(FIRST_PLANT) }
  const places: Readonly<Record<string, string>> = {
    fields: writeFields(),
    errors: writeErrors(),
    promises: promises.map(writePromise).join('\n'),
    tabs: writeTabs(),
    operation: `${method} ${path}`,
    plant: escapeHtml(writePlantInLines(FIRST_PLANT)),
    command: escapeHtml(curl.write(call)),
    needs: escapeHtml(curl.needs),
  }
  return template.replace(/\{\{(\w+)\}\}/g, (_place, name: string) => {
    const text = places[name]
    if (text === undefined) throw new Error(`nothing fills {{${name}}}`)
    return text
  })
}
