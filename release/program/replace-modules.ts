import type { Plugin } from 'esbuild'

/**
 * Puts other modules in the place of some, by absolute paths. The build fails if one of them was
 * not met, because then its place has changed.
 */
export function replaceModules(replaced: Readonly<Record<string, string>>): Plugin {
  return {
    name: 'replace-modules',
    setup({ onEnd, onLoad, onStart }) {
      const met = new Set<string>()
      onStart(() => met.clear())
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const replacement = replaced[path]
        if (replacement === undefined) return undefined
        met.add(path)
        return { contents: `export * from ${JSON.stringify(replacement)}`, loader: 'ts' }
      })
      onEnd(() => ({
        errors: Object.keys(replaced)
          .filter((path) => !met.has(path))
          .map((path) => ({ text: `nothing imports ${path}, which is to be replaced` })),
      }))
    },
  }
}
