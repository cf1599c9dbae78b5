import { createPlant as send } from '../generated/orval/client'
import type { Order, Outcome } from './caller.ts'

/** The base address was written into the client when it was made. */
export async function createPlant({ token, plant }: Order): Promise<Outcome> {
  const answer = await send(plant, { headers: { authorization: `Bearer ${token}` } })
  if (answer.status === 200) return { name: answer.data.name, tag: answer.data.tag }
  return { error: answer.data.error, message: answer.data.message }
}
