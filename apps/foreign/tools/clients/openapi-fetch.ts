import createClient from 'openapi-fetch'
import type { paths } from '../generated/openapi-fetch/schema.ts'
import type { Order, Outcome } from './caller.ts'

export async function createPlant({ baseUrl, token, plant }: Order): Promise<Outcome> {
  const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${token}` } })
  const { data, error } = await client.POST('/plants', { body: plant })
  if (error !== undefined) return { error: error.error, message: error.message }
  return { name: data.name, tag: data.tag }
}
