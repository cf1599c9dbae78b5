import { createPlantStoreClient } from '@plant-store/client'

export const clients = [
  createPlantStoreClient({ fetch }),
  createPlantStoreClient({ fetch: Bun.fetch }),
  createPlantStoreClient({
    fetch: (url, init) => fetch(url, { ...init, proxy: 'http://127.0.0.1:3128' }),
  }),
  createPlantStoreClient({ baseUrl: new URL('http://127.0.0.1'), headers: new Headers() }),
]

// @ts-expect-error a fetch takes a URL as a text
export const other = createPlantStoreClient({ fetch: (url: number) => fetch(`${url}`) })
