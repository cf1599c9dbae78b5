import { createRequire } from 'node:module'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { exceptions } from './exceptions.ts'
import { document, needsTools, runTool, tools } from './tools.ts'

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
    const { default: SwaggerParser } = createRequire(join(tools, 'package.json'))(
      '@apidevtools/swagger-parser',
    )
    const { info } = await SwaggerParser.validate(document)
    expect(info.title).toBe('OpenAPI Plant Store')
  })
})
