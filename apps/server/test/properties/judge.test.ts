import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { bytesOf, invalidCases, validCases } from '../../../../packages/contract/test/cases.ts'
import { writeOpenApi } from '../../src/http/docs.ts'
import { createDocumentValidator } from './document-validator.ts'
import { parseExactly } from './exact-json.ts'
import { judge } from './judge.ts'

const path = new URL('../../../../packages/contract/openapi.json', import.meta.url)

describe.each([
  ['by the committed document', readFileSync(path, 'utf8')],
  ['by the same in OpenAPI 3.0', await writeOpenApi('json-3.0')],
])('%s', (_claim, documentText) => {
  const document = createDocumentValidator(documentText)

  test.each(validCases)('$name is the plant of its case', ({ body, plant }) => {
    const verdict = { plant: { ...plant, id: BigInt(plant.id) } }
    expect(judge(bytesOf({ body }), document)).toStrictEqual(verdict)
  })

  test.each(invalidCases)('$name is what its case says', (one) => {
    expect(judge(bytesOf(one), document)).toStrictEqual({ error: one.error })
  })

  test('a response has the body of its status', () => {
    const isAllowed = (status: number, body: string) =>
      document.isResponseBody(status, parseExactly(body))
    expect(isAllowed(200, '{"name":"Fern"}')).toBe(true)
    expect(isAllowed(200, '{"tag":"shade"}')).toBe(false)
    expect(isAllowed(400, '{"error":2147483647,"message":"a"}')).toBe(true)
    expect(isAllowed(400, '{"error":2147483648,"message":"a"}')).toBe(false)
    expect(isAllowed(402, '{"error":40200,"message":"a"}')).toBe(false)
  })
})
