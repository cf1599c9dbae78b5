import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { ErrorBody, NewPlant, Plant } from '../src/index.ts'

/** A Unicode scalar value other than U+0000, any number of times. */
const TEXT = { type: 'string', pattern: '^[^\\u0000\\uD800-\\uDFFF]*$' }

describe('the JSON Schema that zod makes', () => {
  test('of a NewPlant as it is sent says integer, int64, text and what is required', () => {
    const schema = z.toJSONSchema(NewPlant, { io: 'input', unrepresentable: 'any' })
    expect(schema).toEqual({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { id: { type: 'integer', format: 'int64' }, name: TEXT, tag: TEXT },
      required: ['id', 'name'],
    })
  })

  test('of a Plant as it is sent back has no id and requires the name', () => {
    const { properties, required } = z.toJSONSchema(Plant, { io: 'output' })
    expect(properties).toEqual({ name: TEXT, tag: TEXT })
    expect(required).toEqual(['name'])
  })

  test('of an Error says a number within int32 and a message', () => {
    const { properties, required } = z.toJSONSchema(ErrorBody)
    const int32 = { type: 'integer', minimum: -2147483648, maximum: 2147483647 }
    expect(properties).toEqual({ error: int32, message: { type: 'string' } })
    expect(required).toEqual(['error', 'message'])
  })

  test('has a pattern that means in a validator what it means here', () => {
    // JSON Schema 2020-12 §6.4 asks for Unicode mode, and validators add no other flag.
    const pattern = new RegExp(TEXT.pattern, 'u')
    const texts = ['', 'Fern', '🌿', 'a\nb', '\u0000', '\ud800', '\udf3f\ud83c']
    expect(texts.map((text) => pattern.test(text))).toEqual(
      texts.map((name) => Plant.safeParse({ name }).success),
    )
  })
})
