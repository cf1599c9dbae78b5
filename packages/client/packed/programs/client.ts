import {
  type AnyPlantStoreError,
  type CreatePlantOptions,
  type CreatePlantsResult,
  createPlantStoreClient,
  createPlants,
  type ErrorName,
  isPlantStoreError,
  type Plant,
  type PlantStoreError,
  type PlantStoreErrorCode,
  type PlantStoreLogger,
} from '@plant-store/client'

const client = createPlantStoreClient({
  token: async ({ refresh, signal }) => `${refresh} ${signal.aborted}`,
})
const plant: Plant = await client.createPlant({ id: 9223372036854775807n, name: 'Fern' })
const withoutTag: Plant = { name: plant.name, tag: undefined }

const result = await client.tryCreatePlant({ id: 7, name: 'Moss', tag: 'shade' })
const code: PlantStoreErrorCode | undefined = result.ok ? undefined : result.error.code

function nameOf(error: AnyPlantStoreError): ErrorName | undefined {
  return error.code === 'conflict' ? error.apiName : undefined
}

/** Each code narrows an error to its class. */
function describe(error: AnyPlantStoreError): string {
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
    case 'not_found':
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

const rows = [{ id: 1n, name: 'Ivy', line: 1 }]
const results: CreatePlantsResult<{ id: bigint; name: string; line: number }>[] = []
for await (const one of createPlants(client, rows)) results.push(one)
const lines: number[] = results.map(({ input }) => input.line)
const options: CreatePlantOptions = { signal: undefined, requestId: 'order-66' }
const logger: PlantStoreLogger = console
const withHeaders = createPlantStoreClient({
  baseUrl: new URL('http://127.0.0.1:3000'),
  headers: new Headers({ 'x-garden': 'north' }),
  logger,
  onEvent: (event) => event.type === 'failure' && event.message.length,
})
const checked: Promise<void> = withHeaders.checkToken({ headers: [['x-garden', 'south']] })

// @ts-expect-error a Plant has no id
export const id = plant.id
// @ts-expect-error a plant has a name
export const nameless = client.createPlant({ id: 7 })
// @ts-expect-error an id is no string
export const text = client.createPlant({ id: '7', name: 'Fern' })
// @ts-expect-error a tag is no null
export const tagless = client.createPlant({ id: 7, name: 'Fern', tag: null })
// @ts-expect-error a plant has no colour
export const green = client.createPlant({ id: 7, name: 'Fern', colour: 'green' })
// @ts-expect-error an option that there is not
export const retrying = createPlantStoreClient({ retry: true })
// @ts-expect-error a client has no signal, its calls have
export const aborted = createPlantStoreClient({ signal: AbortSignal.abort() })
// @ts-expect-error an id is for one call
export const bulkId = createPlants(client, rows, { requestId: 'order-66' })
// @ts-expect-error a source is of plants
export const bulk = createPlants(client, [{ id: 7 }])
// @ts-expect-error whether the plant was stored is one of three words
export const applied = (error: PlantStoreError) => error.applied === 'perhaps'
// @ts-expect-error an error has no body of the request
export const body = (error: unknown) => (isPlantStoreError(error) ? error.body : undefined)

export { checked, code, describe, lines, nameOf, options, withoutTag }
