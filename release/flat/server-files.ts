/** In the place of `apps/server/src/process/files.ts`: all stands beside the program. */
export const files: typeof import('../../apps/server/src/process/files.ts').files = {
  manifest: new URL('./package.json', import.meta.url),
  built: new URL('./', import.meta.url),
}
