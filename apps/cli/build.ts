import { chmodSync, readFileSync, rmSync } from 'node:fs'
import { build } from 'esbuild'

const { dependencies } = JSON.parse(
  readFileSync(new URL('package.json', import.meta.url), 'utf8'),
) as { readonly dependencies: Readonly<Record<string, string>> }

const outdir = new URL('dist', import.meta.url).pathname

rmSync(outdir, { recursive: true, force: true })
// What comes from this repository, and what that depends on, is put into dist; the registry has none of it.
await build({
  entryPoints: [new URL('src/main.ts', import.meta.url).pathname],
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  external: Object.keys(dependencies),
  logLevel: 'warning',
})
chmodSync(`${outdir}/main.js`, 0o755)
