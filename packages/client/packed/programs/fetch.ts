import {
  createPlantStoreClient,
  type PlantStoreFetch,
  type PlantStoreFetchInit,
} from '@plant-store/client'
import nodeFetch from 'node-fetch'
import { ProxyAgent, fetch as undiciFetch } from 'undici'
import { EnvHttpProxyAgent, fetch as undici7Fetch } from 'undici-7'

const dispatcher = new ProxyAgent('http://127.0.0.1:3128')
const ofTheEnvironment = new EnvHttpProxyAgent()

/** Each is taken as it is: nothing here is cast. */
export const clients = [
  createPlantStoreClient({ fetch }),
  createPlantStoreClient({ fetch: globalThis.fetch }),
  createPlantStoreClient({ fetch: undiciFetch }),
  createPlantStoreClient({ fetch: undici7Fetch }),
  createPlantStoreClient({ fetch: nodeFetch }),
  createPlantStoreClient({ fetch: (url, init) => fetch(url, init) }),
  createPlantStoreClient({ fetch: (url, init) => undiciFetch(url, { ...init, dispatcher }) }),
  createPlantStoreClient({
    fetch: (url, init) => undici7Fetch(url, { ...init, dispatcher: ofTheEnvironment }),
  }),
  createPlantStoreClient({ fetch: (url, init) => nodeFetch(url, { ...init, compress: false }) }),
  createPlantStoreClient({
    fetch: async (url, init) => {
      const reply = await fetch(url, { ...init, keepalive: true })
      console.log(reply.status)
      return reply
    },
  }),
  createPlantStoreClient({ fetch: async () => new Response('{"name":"Fern"}') }),
]

export const own: PlantStoreFetch = async (_url: string, { body }: PlantStoreFetchInit) => ({
  status: 200,
  headers: new Map([['content-type', 'application/json']]),
  arrayBuffer: async () => new TextEncoder().encode(body).buffer as ArrayBuffer,
})

// @ts-expect-error a fetch gives a promise
export const eager = createPlantStoreClient({ fetch: () => new Response() })
// @ts-expect-error a reply has a status
export const blank = createPlantStoreClient({ fetch: async () => ({ headers: new Map() }) })
