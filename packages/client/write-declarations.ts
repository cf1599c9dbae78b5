import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { generateDtsBundle } from 'dts-bundle-generator'

/** An object that the compiler has inferred from the contract. It keeps no comment of a field. */
const INFERRED = /(?<=\b(?:input|newPlant|plant|errorBody): \{\n)[^}]*/g

interface JsonSchema {
  readonly properties?: Readonly<Record<string, { readonly description: string }>>
  readonly allOf?: readonly JsonSchema[]
}

/** The first paragraph of what the OpenAPI document says of each field, by its name. */
function describeFields(): Map<string, string> {
  const path = fileURLToPath(import.meta.resolve('@plant-store/contract/openapi.json'))
  // While a shell renews the document, it is empty; the next build has its words.
  const document = JSON.parse(readFileSync(path, 'utf8') || '{"components":{"schemas":{}}}')
  const schemas: readonly JsonSchema[] = Object.values(document.components.schemas)
  const objects = schemas.flatMap((schema) => schema.allOf ?? schema)
  const fields = objects.flatMap(({ properties = {} }) => Object.entries(properties))
  return new Map(fields.map(([name, { description }]) => [name, description.split('\n')[0] ?? '']))
}

/** Writes over each field what the OpenAPI document says of it. */
function documentFields(declarations: string): string {
  const descriptions = describeFields()
  const document = (line: string, indent: string, name: string) =>
    descriptions.has(name) ? `${indent}/** ${descriptions.get(name)} */\n${line}` : line
  return declarations.replace(INFERRED, (fields) =>
    fields.replace(/^(\s*)(\w+)\??:.*$/gm, document),
  )
}

function pathOf(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url))
}

/** The compiler's declarations of an entry and of all that it refers to, as one file. */
function rollUp(name: string): string {
  const output = { exportReferencedTypes: false, noBanner: true }
  const entry = { filePath: pathOf(`dist/types/${name}.d.ts`), output }
  const options = { preferredConfigPath: pathOf('tsconfig.build.json') }
  // One entry at a time: two together take five times as long.
  const [declarations = ''] = generateDtsBundle([entry], options)
  return documentFields(declarations)
}

mkdirSync(pathOf('dist/cjs'), { recursive: true })
// Node.js and compilers read from it that what is beside it is CommonJS.
writeFileSync(pathOf('dist/cjs/package.json'), '{"type":"commonjs"}\n')
for (const name of ['index', 'rest', 'undici']) {
  writeFileSync(pathOf(`dist/${name}.d.ts`), rollUp(name))
  copyFileSync(pathOf(`dist/${name}.d.ts`), pathOf(`dist/cjs/${name}.d.ts`))
}
