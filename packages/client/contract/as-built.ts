import { fileURLToPath } from 'node:url'

/** For tests, which then run what is published: the contract without zod, as the build makes it. */
export const contractAsBuilt = {
  resolve: { alias: { 'zod/mini': fileURLToPath(new URL('../src/zod-mini.ts', import.meta.url)) } },
  ssr: { noExternal: ['@plant-store/contract'] },
}
