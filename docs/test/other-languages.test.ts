import { clients } from '../../apps/foreign/languages/clients.ts'
import { describeClient } from '../../apps/foreign/languages/describe-client.ts'

/** Of the clients in docs/clients.md, the one that needs nothing but what CI has. */
const NAME = 'python-openapi-python-client'

const client = clients.find(({ name }) => name === NAME)
if (client === undefined) throw new Error(`apps/foreign/languages has no ${NAME}`)
describeClient(client, () => ({}))
