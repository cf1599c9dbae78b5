import { startServerProcess } from '../../../../test/server-process.ts'

/** Writes the URLs of the modules that a program loads to standard error, if they contain a text. */
const reporterOf = (text: string) =>
  `data:text/javascript,import { registerHooks } from 'node:module'
registerHooks({ resolve(specifier, context, next) {
  const resolved = next(specifier, context)
  if (resolved.url.includes('${text}')) process.stderr.write(resolved.url + '\\n')
  return resolved
} })`

/** The URLs with a text in them of the modules that a server loads until it has stored a plant. */
export async function loadedModules(
  text: string,
  environment: Readonly<Record<string, string>>,
): Promise<string[]> {
  const NODE_OPTIONS = `--import ${encodeURI(reporterOf(text))}`
  const server = await startServerProcess({ environment: { NODE_OPTIONS, ...environment } })
  await server.client.createPlant({ id: 1, name: 'Fern' })
  const { err } = await server.end()
  return err.split('\n').filter((line) => line.startsWith('file:') && line.includes(text))
}
