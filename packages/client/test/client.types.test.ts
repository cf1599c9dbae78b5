import { describe, expectTypeOf, test } from 'vitest'
import {
  type AnyPlantStoreError,
  type CreatePlantOptions,
  type CreatePlantResult,
  type CreatePlantsResult,
  createPlantStoreClient,
  createPlants,
  type ErrorName,
  isPlantStoreError,
  type NewPlantInput,
  type Plant,
  type PlantStoreApiError,
  type PlantStoreClient,
  type PlantStoreClientOptions,
  type PlantStoreConnectionError,
  type PlantStoreError,
  type PlantStoreErrorCode,
  type PlantStoreInputError,
  type PlantStoreMeta,
  type PlantStoreResponseError,
  type PlantStoreTimeoutError,
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

  test('a client may be made of nothing but the environment', () => {
    expectTypeOf<Parameters<typeof createPlantStoreClient>>().toEqualTypeOf<
      [options?: PlantStoreClientOptions | undefined]
    >()
    const create: (options: PlantStoreClientOptions) => void = () => {}
    create({ token: () => 'token' })
    create({ token: async ({ refresh, signal }) => `${refresh} ${signal.aborted}` })
    // @ts-expect-error an option that there is not
    create({ retry: true })
    // @ts-expect-error a client has no signal, its calls have
    create({ signal: new AbortController().signal })
    // @ts-expect-error a token is text
    create({ token: 5 })
  })

  test('a call takes a signal that may be undefined', () => {
    expectTypeOf<{ signal: AbortSignal | undefined }>().toExtend<CreatePlantOptions>()
    expectTypeOf<{ retries: number }>().not.toExtend<CreatePlantOptions>()
  })
})

describe('the types of tryCreatePlant', () => {
  test('ok distinguishes a plant from an error', () => {
    type Result = Awaited<ReturnType<PlantStoreClient['tryCreatePlant']>>
    expectTypeOf<Result>().toEqualTypeOf<CreatePlantResult>()
    expectTypeOf<Extract<Result, { ok: true }>>().toEqualTypeOf<{
      readonly ok: true
      readonly plant: Plant
      readonly meta: PlantStoreMeta
    }>()
    expectTypeOf<Extract<Result, { ok: false }>['error']>().toEqualTypeOf<AnyPlantStoreError>()
  })
})

describe('the types of createPlants', () => {
  test('a result has the plant as it was given', () => {
    interface Row {
      readonly id: bigint
      readonly name: string
      readonly line: number
    }
    const create: (source: AsyncIterable<Row>) => AsyncGenerator<CreatePlantsResult<Row>, void> = (
      source,
    ) => createPlants(client, source)
    type Result = ReturnType<typeof create> extends AsyncGenerator<infer Each> ? Each : never
    expectTypeOf<Result['input']>().toEqualTypeOf<Row>()
    expectTypeOf<Extract<Result, { ok: true }>['plant']>().toEqualTypeOf<Plant>()
    expectTypeOf<Extract<Result, { ok: false }>['error']>().toEqualTypeOf<AnyPlantStoreError>()
    // @ts-expect-error a source is of plants
    createPlants(client, [{ id: 7 }])
  })
})

describe('the types of what is thrown', () => {
  test('every error is a PlantStoreError', () => {
    expectTypeOf<PlantStoreInputError>().toExtend<PlantStoreError>()
    expectTypeOf<PlantStoreApiError>().toExtend<PlantStoreError>()
    expectTypeOf<PlantStoreConnectionError>().toExtend<PlantStoreError>()
    expectTypeOf<PlantStoreResponseError>().toExtend<PlantStoreError>()
  })

  test('its code narrows it to its class', () => {
    type OfCode<Code> = Extract<AnyPlantStoreError, { code: Code }>
    const codeOf = (error: AnyPlantStoreError): string => {
      switch (error.code) {
        case 'missing_token':
        case 'invalid_token':
        case 'invalid_base_url':
        case 'invalid_option':
        case 'token_provider_failed':
          return error.option
        case 'invalid_plant':
          return error.issues.join()
        case 'rejected':
        case 'unauthorized':
        case 'forbidden':
        case 'conflict':
        case 'too_large':
        case 'rate_limited':
        case 'server_error':
        case 'unexpected_status':
          return error.apiMessage
        case 'connection_failed':
        case 'connection_lost':
        case 'tls_failed':
          return error.reason
        case 'attempt_timeout':
        case 'total_timeout':
          return `${error.timeoutMs}`
        case 'aborted':
          return `${error.cause}`
        case 'unexpected_response':
          return error.snippet
        default:
          return error satisfies never
      }
    }
    expectTypeOf(codeOf).returns.toBeString()
    expectTypeOf<AnyPlantStoreError['code']>().toEqualTypeOf<PlantStoreErrorCode>()
    expectTypeOf<OfCode<PlantStoreErrorCode>>().toExtend<PlantStoreError>()
  })

  test('whether the plant was stored is one of three words', () => {
    expectTypeOf<PlantStoreError['applied']>().toEqualTypeOf<'no' | 'maybe' | 'yes'>()
    expectTypeOf<PlantStoreTimeoutError>().toExtend<PlantStoreConnectionError>()
  })

  test('isPlantStoreError narrows what is thrown', () => {
    const thrown: unknown = undefined
    if (isPlantStoreError(thrown)) expectTypeOf(thrown).toEqualTypeOf<AnyPlantStoreError>()
  })

  test('an API error has a name of the contract, or none', () => {
    expectTypeOf<PlantStoreApiError['apiName']>().toEqualTypeOf<ErrorName | undefined>()
    expectTypeOf<'id_taken'>().toExtend<ErrorName>()
  })
})
