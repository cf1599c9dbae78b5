import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { env } from 'node:process'
import { fileURLToPath } from 'node:url'
import { createOpenApiDocument, formatOpenApiJson } from '@plant-store/contract/openapi'
import { expect, test } from 'vitest'
import { needs } from '../../../test/needs.ts'
import { startProgram } from '../../../test/start-program.ts'
import { temporaryFolder } from '../../../test/temporary-folder.ts'

/** The folder of the tools, which is installed by itself. */
const TOOLS = join(import.meta.dirname, '../tools')

const needsTools = needs(
  '`pnpm install` in apps/interop/tools',
  existsSync(join(TOOLS, 'node_modules')),
)

const committed = fileURLToPath(import.meta.resolve('@plant-store/contract/openapi.json'))

/** Holds a document against Redocly's strictest rules; gives how much it finds. */
async function lint(text: string): Promise<object> {
  const document = join(temporaryFolder(), 'openapi.json')
  writeFileSync(document, text)
  const quiet = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const PATH = `${dirname(process.execPath)}:${env.PATH}`
  const flags = ['lint', '--config', 'redocly.yaml', '--format', 'json', document]
  const words = ['node_modules/.bin/redocly', ...flags]
  const { out } = await startProgram(words, { cwd: TOOLS, env: { ...env, PATH, ...quiet } }).ended
  return JSON.parse(out).totals
}

const clean = { errors: 0, warnings: 0, ignored: 0 }

test('the committed document is clean for Redocly, recommended-strict', needsTools, async () => {
  const text = readFileSync(committed, 'utf8')
  expect(await lint(text)).toEqual(clean)
  expect(await lint(text.replace('"operationId"', '"operation"'))).not.toEqual(clean)
})

test('so is the document in OpenAPI 3.0', needsTools, async () => {
  expect(await lint(formatOpenApiJson(createOpenApiDocument('/', '3.0')))).toEqual(clean)
})
