import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const sources = import.meta.dirname
const target = join(sources, '../dist/overview')
const uplot = dirname(fileURLToPath(import.meta.resolve('uplot/package.json')))

rmSync(target, { recursive: true, force: true })
mkdirSync(target, { recursive: true })
for (const file of ['index.html', '../page/icon.svg']) {
  cpSync(join(sources, file), join(target, file.replace('../page/', '')))
}
await build({
  entryPoints: [join(sources, 'overview.ts'), join(sources, 'overview.css')],
  outdir: target,
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  logLevel: 'warning',
})
// Minified code keeps no comments, and the licence asks to be with every copy.
const licence = `/*! uPlot\n${readFileSync(join(uplot, 'LICENSE'), 'utf8')}*/\n`
const script = join(target, 'overview.js')
writeFileSync(script, licence + readFileSync(script, 'utf8'))
