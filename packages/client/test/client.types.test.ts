import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, expectTypeOf, test } from 'vitest'
import {
  type CreatePlantAnswer,
  type CreatePlantOptions,
  createPlantStoreClient,
  type ErrorBody,
  type ErrorName,
  type ErrorStatus,
  type NewPlantInput,
  type Plant,
  type PlantStoreApiError,
  type PlantStoreClient,
  type PlantStoreConnectionError,
  type PlantStoreError,
  type PlantStoreInputError,
  type PlantStoreResponseError,
} from '../src/index.ts'

const client = createPlantStoreClient({ baseUrl: 'http://127.0.0.1:9', token: 'token' })
type CreatePlant = PlantStoreClient['createPlant']

describe('the types of createPlant', () => {
  test('it takes an id as number or bigint, a name, and perhaps a tag', () => {
    expectTypeOf<{ id: number; name: string }>().toExtend<NewPlantInput>()
    expectTypeOf<{ id: bigint; name: string; tag: string }>().toExtend<NewPlantInput>()
    expectTypeOf<Parameters<CreatePlant>>().toEqualTypeOf<
      [plant: NewPlantInput, options?: CreatePlantOptions | undefined]
    >()
  })

  test('it gives a Plant, which has no id', () => {
    expectTypeOf<Awaited<ReturnType<CreatePlant>>>().toEqualTypeOf<Plant>()
    expectTypeOf<Plant>().toEqualTypeOf<{ name: string; tag?: string | undefined }>()
  })

  test('what is no plant does not compile', () => {
    const create: (plant: NewPlantInput) => void = () => {}
    // @ts-expect-error an id is no string
    create({ id: '7', name: 'Fern' })
    // @ts-expect-error a plant has a name
    create({ id: 7 })
    // @ts-expect-error a tag is no null
    create({ id: 7, name: 'Fern', tag: null })
    // @ts-expect-error a plant has no colour
    create({ id: 7, name: 'Fern', colour: 'green' })
  })

  test('a client needs a base URL and a token', () => {
    const create: (options: Parameters<typeof createPlantStoreClient>[0]) => void = () => {}
    // @ts-expect-error no token
    create({ baseUrl: 'http://127.0.0.1:9' })
    // @ts-expect-error no base URL
    create({ token: 'token' })
    // @ts-expect-error an option that there is not
    create({ baseUrl: 'http://127.0.0.1:9', token: 'token', retry: true })
  })
})

describe('the types of rest.createPlant', () => {
  test('the status tells a Plant from an Error', () => {
    type Answer = Awaited<ReturnType<typeof client.rest.createPlant>>
    expectTypeOf<Answer>().toEqualTypeOf<CreatePlantAnswer>()
    expectTypeOf<Extract<Answer, { status: 200 }>['body']>().toEqualTypeOf<Plant>()
    expectTypeOf<Exclude<Answer, { status: 200 }>['body']>().toEqualTypeOf<ErrorBody>()
  })

  test('the statuses are 200 and those of the error table', () => {
    expectTypeOf<CreatePlantAnswer['status']>().toEqualTypeOf<200 | ErrorStatus>()
    expectTypeOf<409>().not.toExtend<ErrorStatus>()
  })
})

describe('the types of what is thrown', () => {
  test('every error is a PlantStoreError', () => {
    expectTypeOf<PlantStoreInputError>().toExtend<PlantStoreError>()
    expectTypeOf<PlantStoreApiError>().toExtend<PlantStoreError>()
    expectTypeOf<PlantStoreConnectionError>().toExtend<PlantStoreError>()
    expectTypeOf<PlantStoreResponseError>().toExtend<PlantStoreError>()
  })

  test('an API error has a name of the contract, or none', () => {
    expectTypeOf<PlantStoreApiError['apiName']>().toEqualTypeOf<ErrorName | undefined>()
    expectTypeOf<'id_taken'>().toExtend<ErrorName>()
  })
})

describe('the published types', () => {
  test('do not mention ts-rest, whose own types need skipLibCheck', () => {
    const folder = new URL('../dist/', import.meta.url)
    const files = readdirSync(folder).filter((name) => name.endsWith('.d.ts'))
    const mentioning = files.filter((name) => {
      return readFileSync(new URL(name, folder), 'utf8').includes('ts-rest/')
    })
    expect(files).toContain('index.d.ts')
    expect(mentioning).toEqual([])
  })
})
