import { env } from 'node:process'

export default {
  plants: {
    input: env.DOCUMENT,
    output: {
      target: 'plants.ts',
      client: 'fetch',
      baseUrl: env.PLANT_STORE_BASE_URL,
      override: { useBigInt: true },
    },
  },
}
