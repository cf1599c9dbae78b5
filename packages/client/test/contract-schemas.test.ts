import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

const pathOf = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

/** What the build says of a contract whose plant has one field more, with this schema. */
function checkField(schema: string): Promise<string> {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'plant-store-schemas-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  cpSync(pathOf('../../../tsconfig.base.json'), join(folder, 'tsconfig.base.json'))
  for (const part of ['client/contract', 'client/src', 'contract/src']) {
    cpSync(pathOf(`../../${part}`), join(folder, 'packages', part), { recursive: true })
  }
  const path = join(folder, 'packages/contract/src/plant.ts')
  const changed = readFileSync(path, 'utf8').replace('{ name: text,', `$& extra: ${schema},`)
  writeFileSync(path, changed)
  const project = join(folder, 'packages/client/contract')
  return new Promise((resolve) => {
    execFile(pathOf('../node_modules/.bin/tsc'), ['-p', project], (error, output) =>
      resolve(error === null ? '' : output),
    )
  })
}

test.each(['text', 'z.optional(z.nullable(z.int32()))', 'z.object({ of: z.optional(text) })'])(
  'the build takes %s',
  async (schema) => {
    expect(await checkField(schema)).toBe('')
  },
)

test.each([
  ["z.enum(['a'])", "'enum'"],
  ['z.string().check(z.maxLength(9))', "'maxLength'"],
  ['z.strictObject({ text })', "'strictObject'"],
  ["z.string({ error: 'e', abort: true })", "'abort'"],
  ["z.string({ message: 'e' })", "'message'"],
  ['z.string().brand()', "'brand'"],
  ['z.int32().register(z.globalRegistry, {})', "'globalRegistry'"],
  ['z.string().check(z.regex(/a/))', 'Expected 2 arguments'],
  ["z.regex(/a/, 'e')", 'Check<string>'],
  ['z.optional(z.nullable(z.optional(text)))', "'safeParse'"],
  ['z.string().check(z.meta({})).check(z.meta({}))', "'check'"],
  ['z.pipe(text, text)', 'Schema<string>'],
  ["z.int32().check(z.regex(/a/, 'e'))", "'check'"],
  ['z.custom<string>(() => true, { error: () => undefined })', "'undefined'"],
])('the build stops at %s and says what is not known', async (schema, name) => {
  const said = await checkField(schema)
  expect(said).toContain('contract/src/plant.ts(')
  expect(said).toContain(name)
})
