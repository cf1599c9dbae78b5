import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { runProgram } from './program.ts'

const committed = readFileSync(
  new URL('../../../../packages/contract/openapi.json', import.meta.url),
  'utf8',
)

describe('openapi', () => {
  test('prints the committed document, byte for byte', async () => {
    expect(await runProgram(['openapi'])).toEqual({ code: 0, out: committed, err: '' })
  })

  test('prints it for tools that know OpenAPI 3.0 only', async () => {
    const { code, out } = await runProgram(['openapi', '--format', 'json-3.0'])
    expect(code).toBe(0)
    const { openapi, paths } = JSON.parse(out)
    const { post } = JSON.parse(committed).paths['/plants']
    const { default: unknownFailure, ...responses } = post.responses
    expect(openapi).toBe('3.0.3')
    expect(paths).toEqual({ '/plants': { post: { ...post, responses } } })
  })

  test('names the base address that it is given', async () => {
    const { out } = await runProgram(['openapi', '--public-url', 'https://plants.test/store'])
    expect(JSON.parse(out).servers).toMatchObject([{ url: 'https://plants.test/store' }])
  })

  test('refuses another format', async () => {
    const { code, out } = await runProgram(['openapi', '--format', 'xml'])
    expect({ code, out }).toEqual({ code: 78, out: '' })
  })
})
