import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { env } from 'node:process'
import { fileURLToPath } from 'node:url'
import { createOpenApiDocument, formatOpenApiJson } from '@plant-store/contract/openapi'
import { expect, onTestFinished, test } from 'vitest'
import { needs } from '../../../packages/client/runtimes/needs.ts'

/** The folder of the tools, which is installed by itself. */
const TOOLS = join(import.meta.dirname, '../tools')

const needsTools = needs(
  '`pnpm install` in apps/interop/tools',
  existsSync(join(TOOLS, 'node_modules')),
)

const committed = fileURLToPath(import.meta.resolve('@plant-store/contract/openapi.json'))

/** Holds a document against Redocly's strictest rules; gives how much it finds. */
function lint(text: string): Promise<object> {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-openapi-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const document = join(folder, 'openapi.json')
  writeFileSync(document, text)
  const options = {
    cwd: TOOLS,
    env: {
      ...env,
      PATH: `${dirname(process.execPath)}:${env.PATH}`,
      REDOCLY_TELEMETRY: 'off',
      REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
    },
  }
  const args = ['lint', '--config', 'redocly.yaml', '--format', 'json', document]
  return new Promise((resolve) => {
    execFile('node_modules/.bin/redocly', args, options, (_error, out) =>
      resolve(JSON.parse(out).totals),
    )
  })
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
