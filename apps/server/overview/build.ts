import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildPage } from '../page/build-page.ts'

const sources = import.meta.dirname
const uplot = dirname(fileURLToPath(import.meta.resolve('uplot/package.json')))
const read = (...path: string[]) => readFileSync(join(...path), 'utf8')

await buildPage({
  target: join(sources, '../dist/overview'),
  entryPoints: [join(sources, 'overview.ts'), join(sources, 'overview.css')],
  texts: {
    'index.html': read(sources, 'index.html'),
    'icon.svg': read(sources, '../page/icon.svg'),
  },
  // The licence asks to be with every copy.
  licence: `/*! uPlot\n${read(uplot, 'LICENSE')}*/`,
})
