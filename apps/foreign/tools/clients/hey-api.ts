import { createClient } from '../generated/hey-api/client'
import { createPlant as send } from '../generated/hey-api/sdk.gen'
import type { Order, Outcome } from './caller.ts'

export async function createPlant({ baseUrl, token, plant }: Order): Promise<Outcome> {
  const client = createClient({ baseUrl, auth: token })
  const { data, error } = await send({ client, body: plant })
  if (data !== undefined) return { name: data.name, tag: data.tag }
  return { error: error.error, message: error.message }
}
