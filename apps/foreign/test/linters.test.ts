import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createOpenApiDocument, formatOpenApiJson } from '@plant-store/contract/openapi'
import { describe, expect, onTestFinished, test } from 'vitest'
import { exceptions } from './exceptions.ts'
import { document, needsTools, runTool, tools } from './tools.ts'

interface Valid {
  readonly openapi: string
  readonly info: { readonly title: string }
}

function swaggerParser(): { validate(path: string): Promise<Valid> } {
  return createRequire(join(tools, 'package.json'))('@apidevtools/swagger-parser').default
}

/** The part of a result of Spectral that counts. */
interface Result {
  readonly code: string
  readonly path: readonly string[]
}

async function findBySpectral(): Promise<{ readonly rule: string; readonly place: string }[]> {
  const args = ['lint', '--ruleset', 'spectral.yaml', '--format', 'json', '--quiet', document]
  const { out } = await runTool('spectral', args)
  const results: Result[] = JSON.parse(out)
  return results.map(({ code, path }) => ({ rule: code, place: path.join('.') }))
}

/** The document in OpenAPI 3.0, in a file that is there for the test. */
function writeFor30(): string {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-openapi-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'openapi-3.0.json')
  writeFileSync(path, formatOpenApiJson(createOpenApiDocument('/', '3.0')))
  return path
}

describe('the document in OpenAPI 3.0', needsTools, () => {
  test('is clean for Redocly, recommended-strict', async () => {
    const args = ['lint', '--config', 'redocly.yaml', '--format', 'json', writeFor30()]
    const { out } = await runTool('redocly', args)
    expect(JSON.parse(out)).toMatchObject({ totals: { errors: 0, warnings: 0, ignored: 0 } })
  })

  test('is valid for swagger-parser, which finds what 3.0 does not have', async () => {
    const path = writeFor30()
    const { openapi } = await swaggerParser().validate(path)
    expect(openapi).toBe('3.0.3')
    writeFileSync(path, readFileSync(path, 'utf8').replace('"enum": [', '"const": ['))
    await expect(swaggerParser().validate(path)).rejects.toThrow(
      'headers/Allow/schema must NOT have',
    )
  })
})

describe('the committed document', needsTools, () => {
  test('is clean for Redocly, recommended-strict', async () => {
    const args = ['lint', '--config', 'redocly.yaml', '--format', 'json', document]
    const { code, out } = await runTool('redocly', args)
    expect(JSON.parse(out)).toMatchObject({ totals: { errors: 0, warnings: 0, ignored: 0 } })
    expect(code).toBe(0)
  })

  test('is clean for Spectral with the rules of OWASP, but for exceptions that are named and needed', async () => {
    const results = await findBySpectral()
    const used = new Set<(typeof exceptions)[number]>()
    const unforeseen = results.filter(({ rule, place }) => {
      const exception = exceptions.find((one) => one.rule === rule && one.places.test(place))
      if (exception !== undefined) used.add(exception)
      return exception === undefined
    })
    expect(unforeseen).toEqual([])
    expect(exceptions.filter((exception) => !used.has(exception))).toEqual([])
  })

  test('is valid for swagger-parser', async () => {
    const { info } = await swaggerParser().validate(document)
    expect(info.title).toBe('OpenAPI Plant Store')
  })
})
