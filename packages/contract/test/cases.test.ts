import { isUtf8 } from 'node:buffer'
import { describe, expect, test } from 'vitest'
import { decodeJson, describeProblems, JsonSyntaxError, NewPlant } from '../src/index.ts'
import { bytesOf, invalidCases, validCases } from './cases.ts'

describe('a valid body is the plant that its case states', () => {
  test.each(validCases)('$name', ({ body, plant }) => {
    const decoded = NewPlant.parse(decodeJson(bytesOf({ body })))
    expect(decoded).toStrictEqual({ ...plant, id: BigInt(plant.id) })
  })
})

describe('a body that is no JSON is refused by the decoder', () => {
  const cases = invalidCases.filter(({ error }) => error === 'malformed_json')
  test.each(cases)('$name', (invalid) => {
    expect(() => decodeJson(bytesOf(invalid))).toThrow(JsonSyntaxError)
  })
})

describe('a body that is JSON but no plant is refused by the schema, in the words of its case', () => {
  const cases = invalidCases.filter((invalid) => invalid.error === 'invalid_plant')
  test.each(cases)('$name', (invalid) => {
    const { error } = NewPlant.safeParse(decodeJson(bytesOf(invalid)))
    expect(describeProblems(error?.issues ?? [])).toBe(invalid.message)
  })
})

describe('the cases', () => {
  const all = [...validCases, ...invalidCases]

  test('each has a name and a body of its own', () => {
    const bodies = all.map((one) => Buffer.from(bytesOf(one)).toString('base64'))
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length)
    expect(new Set(bodies).size).toBe(all.length)
  })

  test('a body in base64 is one that text cannot hold, and there are more than a hundred of each kind', () => {
    const encoded = invalidCases.filter((one) => 'bodyBase64' in one)
    expect(encoded.length).toBeGreaterThan(10)
    expect(encoded.filter((one) => isUtf8(bytesOf(one)))).toEqual([])
    expect(validCases.length).toBeGreaterThan(100)
    expect(invalidCases.length).toBeGreaterThan(100)
  })
})
