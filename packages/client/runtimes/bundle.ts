import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

export function pathOf(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url))
}

/** The client as it is published. */
export const BUILT_CLIENT = pathOf('../dist/index.js')

const CLIENT_SOURCES = /\/src\/(index|rest)\.ts$/

/**
 * An entry and all it needs as one script that any runtime takes, Node.js 20 included.
 * Where it imports the client, it gets the built one.
 */
export async function bundle(entry: string, platform: 'neutral' | 'browser'): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [pathOf(entry)],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    platform,
    plugins: [
      {
        name: 'built-client',
        setup({ onResolve }) {
          onResolve({ filter: CLIENT_SOURCES }, ({ path }) => ({
            path: pathOf(path.replace('/src/', '/dist/').replace(/ts$/, 'js')),
          }))
        },
      },
    ],
  })
  return outputFiles[0]?.text ?? ''
}
