import { createPlantStoreClient } from '@plant-store/client'

const client = Deno.createHttpClient({ proxy: { url: 'http://127.0.0.1:3128' } })

export const clients = [
  createPlantStoreClient({ fetch }),
  createPlantStoreClient({ fetch: (url, init) => fetch(url, { ...init, client }) }),
  createPlantStoreClient({ baseUrl: new URL('http://127.0.0.1'), headers: new Headers() }),
]

// @ts-expect-error a fetch takes a URL as a text
export const other = createPlantStoreClient({ fetch: (url: number) => fetch(`${url}`) })
