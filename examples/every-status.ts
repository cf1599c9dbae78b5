import { createRestClient } from '@plant-store/client/rest'

const client = createRestClient()
const signal = AbortSignal.timeout(5_000)
const reply = await client.createPlant({ body: { id: 11, name: 'Sage' }, fetchOptions: { signal } })
if (reply.status === 200) console.log(reply.body.name)
else console.log(reply.status, reply.body.error, reply.body.message, reply.applied)
