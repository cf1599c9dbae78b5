import { fastify } from 'fastify'
import { serve } from './serve.ts'
import { type NewPlant, openPeerStore } from './stores.ts'

// A Fastify server as its users write it: a schema, a statement, an answer.

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

const [databaseUrl = '', commitDelayMs = '0'] = process.argv.slice(2)
const store = openPeerStore(databaseUrl, Number(commitDelayMs))
const app = fastify()

app.post<{ Body: NewPlant }>(
  '/plants',
  { schema: { body: newPlant, response: { 200: plant } } },
  async ({ body }) => {
    await store.insert(body)
    return { name: body.name, tag: body.tag }
  },
)

const url = await app.listen({ host: '127.0.0.1', port: 0 })
serve({
  port: Number(new URL(url).port),
  async close() {
    await app.close()
    await store.close()
  },
})
