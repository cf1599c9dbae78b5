import { describe, expectTypeOf, test } from 'vitest'
import type * as z from 'zod/mini'
import {
  contract,
  decodeJson,
  type ErrorBody,
  type ErrorCode,
  type ErrorName,
  type ErrorStatus,
  encodeJson,
  errorNameOf,
  type JsonValue,
  type NewPlant,
  type NewPlantInput,
  type Plant,
} from '../src/index.ts'
import { decodeNumber } from '../src/json.ts'

type Responses = typeof contract.createPlant.responses
type AnswerTo<Status extends keyof Responses> = z.output<Responses[Status]>

describe('the types of a plant', () => {
  test('a caller gives the id as a number or a bigint', () => {
    expectTypeOf<NewPlantInput>().toEqualTypeOf<{
      id: number | bigint
      name: string
      tag?: string | undefined
    }>()
  })

  test('after validation the id is a bigint', () => {
    expectTypeOf<NewPlant>().toEqualTypeOf<{
      id: bigint
      name: string
      tag?: string | undefined
    }>()
  })

  test('an answered plant has no id', () => {
    expectTypeOf<Plant>().toEqualTypeOf<{ name: string; tag?: string | undefined }>()
  })

  test('a validated plant may be sent again', () => {
    expectTypeOf<NewPlant>().toExtend<NewPlantInput>()
  })

  test('an id in a string, a name of null and a missing name do not compile', () => {
    // @ts-expect-error an id is no string
    expectTypeOf({ id: '7', name: 'Fern' }).toExtend<NewPlantInput>()
    // @ts-expect-error a name is no null
    expectTypeOf({ id: 7, name: null }).toExtend<NewPlantInput>()
    // @ts-expect-error a plant has a name
    expectTypeOf({ id: 7 }).toExtend<NewPlantInput>()
  })
})

describe('the types of the contract', () => {
  test('it takes a NewPlant and answers 200 with a Plant', () => {
    expectTypeOf<z.input<typeof contract.createPlant.body>>().toEqualTypeOf<NewPlantInput>()
    expectTypeOf<z.output<typeof contract.createPlant.body>>().toEqualTypeOf<NewPlant>()
    expectTypeOf<AnswerTo<200>>().toEqualTypeOf<Plant>()
  })

  test('its other statuses are those of the error table, each with an Error', () => {
    expectTypeOf<Exclude<keyof Responses, 200>>().toEqualTypeOf<ErrorStatus>()
    expectTypeOf<AnswerTo<ErrorStatus>>().toEqualTypeOf<ErrorBody>()
  })

  test('its only operation is createPlant', () => {
    expectTypeOf<keyof typeof contract>().toEqualTypeOf<'createPlant'>()
    expectTypeOf(contract.createPlant.path).toEqualTypeOf<'/plants'>()
    expectTypeOf(contract.createPlant.method).toEqualTypeOf<'POST'>()
  })
})

describe('the types of an Error', () => {
  test('an Error is a number and a message', () => {
    expectTypeOf<ErrorBody>().toEqualTypeOf<{ error: number; message: string }>()
  })

  test('codes and statuses are literals, so that a switch over them can be exhaustive', () => {
    expectTypeOf<40003>().toExtend<ErrorCode>()
    expectTypeOf<number>().not.toExtend<ErrorCode>()
    expectTypeOf<number>().not.toExtend<ErrorStatus>()
    expectTypeOf<200>().not.toExtend<ErrorStatus>()
  })

  test('the name of an unknown code is undefined', () => {
    expectTypeOf(errorNameOf).toEqualTypeOf<(code: number) => ErrorName | undefined>()
  })
})

describe('the types of JSON', () => {
  test('decoding gives a JsonValue, which may hold a bigint', () => {
    expectTypeOf(decodeJson).toEqualTypeOf<(bytes: Uint8Array) => JsonValue>()
    expectTypeOf(decodeNumber).returns.toEqualTypeOf<number | bigint>()
    expectTypeOf<bigint>().toExtend<JsonValue>()
    expectTypeOf<undefined>().not.toExtend<JsonValue>()
  })

  test('encoding takes what decoding gives, and plants', () => {
    expectTypeOf<JsonValue>().toExtend<Parameters<typeof encodeJson>[0]>()
    expectTypeOf<NewPlant>().toExtend<Parameters<typeof encodeJson>[0]>()
  })

  test('what JSON cannot hold does not compile', () => {
    // @ts-expect-error a function is no JSON
    encodeJson({ water: () => undefined })
    // @ts-expect-error a symbol is no JSON
    encodeJson(Symbol.iterator)
  })
})
