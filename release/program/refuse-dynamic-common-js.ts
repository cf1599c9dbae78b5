import type { Metafile } from 'esbuild'

/**
 * What a program loads with `import()` must be a module: of CommonJS it would get no names.
 *
 * @throws an Error that names the importer
 */
export function refuseDynamicCommonJs({ inputs }: Metafile): void {
  for (const [file, { imports }] of Object.entries(inputs)) {
    const wrong = imports.find(
      ({ kind, path }) => kind === 'dynamic-import' && inputs[path]?.format === 'cjs',
    )
    if (wrong) throw new Error(`${file} loads ${wrong.path} with import(), which is CommonJS`)
  }
}
