import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { bytesOf, invalidCases, validCases } from '../../../../packages/contract/test/cases.ts'
import { writeOpenApi } from '../../src/http/docs/openapi-text.ts'
import { createDocumentValidator } from './document-validator.ts'
import { parseExactly } from './exact-json.ts'
import { readInteger } from './exact-number.ts'
import { judge } from './judge.ts'

const path = new URL('../../../../packages/contract/openapi.json', import.meta.url)
const committed = readFileSync(path, 'utf8')

describe.each([
  ['by the committed document', committed],
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

  test.each<[status: number, body: string, isAllowed: boolean]>([
    [200, '{"name":"Fern"}', true],
    [200, '{"tag":"shade"}', false],
    [400, '{"error":40002,"message":"a"}', true],
    [400, '{"error":2147483647,"message":"a"}', true],
    [400, '{"error":2147483648,"message":"a"}', false],
    [400, '{"error":40002.5,"message":"a"}', false],
    [400, '{"error":40002}', false],
    [402, '{"error":40200,"message":"a"}', false],
  ])('a reply %i %s is allowed: %s', (status, body, isAllowed) => {
    expect(document.isResponseBody(status, parseExactly(body))).toBe(isAllowed)
  })

  test('a schema with a format that has no rule is no schema to judge by', () => {
    const text = documentText.replace('"format": "int64"', '"format": "int128"')
    expect(() => createDocumentValidator(text)).toThrow('int128')
  })
})

test.each<[source: string, value: bigint | undefined]>([
  ['-0', 0n],
  ['-0.000e7', 0n],
  ['0e1000000000', 0n],
  ['7.000', 7n],
  ['70e-1', 7n],
  ['-123.456e3', -123456n],
  ['9.223372036854775808E+18', 9223372036854775808n],
  ['9007199254740993', 9007199254740993n],
  ['1e1000000000', 10n ** 400n],
  ['1.5', undefined],
  ['-1e-1000000000', undefined],
  ['9223372036854775807.5', undefined],
  ['3.0000000000000001', undefined],
])('%s as it is written is the integer %s', (source, value) => {
  expect(readInteger(source)).toBe(value)
})
