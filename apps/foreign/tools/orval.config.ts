export default {
  plants: {
    input: '../../../packages/contract/openapi.json',
    output: {
      target: 'generated/orval/client.ts',
      client: 'fetch',
      baseUrl: process.env.PLANT_STORE_BASE_URL,
    },
  },
}
