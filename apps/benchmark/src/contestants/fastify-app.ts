import { fastify } from 'fastify'
import type { Running } from './contestant.ts'

const plant = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string' }, tag: { type: 'string' } },
}
const newPlant = {
  ...plant,
  required: ['id', 'name'],
  properties: { id: { type: 'integer' }, ...plant.properties },
}

export interface NewPlant {
  id: number
  name: string
  tag?: string
}

/** Where the peers keep plants, each with a commit of its own. */
export interface Peer {
  insert(plant: NewPlant): unknown
  close(): unknown
}

/** A Fastify server as its users write it: a schema, a statement, an answer. */
export async function startFastify({ insert, close }: Peer): Promise<Running> {
  const app = fastify()
  app.post<{ Body: NewPlant }>(
    '/plants',
    { schema: { body: newPlant, response: { 200: plant } } },
    async ({ body }) => {
      await insert(body)
      return { name: body.name, tag: body.tag }
    },
  )
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return {
    port: Number(new URL(url).port),
    token: 'unused',
    async close() {
      await app.close()
      await close()
    },
  }
}
