import type { Applied, ErrorStatus, Plant } from '@plant-store/client'
import { createRestClient, type RestContract } from '@plant-store/client/rest'
import type { ClientInferResponses } from '@ts-rest/core'

const rest = createRestClient({ token: 'plant_secret', maxRetries: 0 })
const reply = await rest.createPlant({
  body: { id: 9223372036854775807n, name: 'Fern' },
  extraHeaders: { 'x-garden': 'north' },
  fetchOptions: { signal: AbortSignal.timeout(1_000) },
  timeoutMs: 500,
})
const plant: Plant | undefined = reply.status === 200 ? reply.body : undefined
const message: string = reply.status === 200 ? reply.body.name : reply.body.message
const status: 200 | ErrorStatus = reply.status
const applied: Applied = reply.applied
const inferred: ClientInferResponses<RestContract['createPlant']> = reply

// @ts-expect-error a plant has a name
export const nameless = rest.createPlant({ body: { id: 7 } })
// @ts-expect-error an id is no string
export const text = rest.createPlant({ body: { id: '7', name: 'Fern' } })
// @ts-expect-error no reply has this status
export const created = reply.status === 201
// @ts-expect-error an option that there is not
export const option = rest.createPlant({ body: { id: 7, name: 'Fern' }, retries: 5 })

export { applied, inferred, message, plant, status }
