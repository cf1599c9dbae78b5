import { chmodSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { build } from 'esbuild'

const folder = import.meta.dirname
const outdir = join(folder, 'dist')
const { dependencies } = createRequire(import.meta.url)('./package.json')

rmSync(outdir, { recursive: true, force: true })
await build({
  absWorkingDir: folder,
  entryPoints: [join(folder, 'src/main.ts')],
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // Packages of this repository, which no registry has, and what they use go into the bundle.
  external: Object.keys(dependencies),
  logLevel: 'warning',
})
chmodSync(join(outdir, 'main.js'), 0o755)
