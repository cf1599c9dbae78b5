import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildPage } from './build-page.ts'
import { fillIndex } from './fill-index.ts'

const here = import.meta.dirname
const operators = join(here, '../overview')
const uplot = dirname(fileURLToPath(import.meta.resolve('uplot/package.json')))
const read = (...path: string[]) => readFileSync(join(...path), 'utf8')

await buildPage({
  target: join(here, '../dist/page'),
  entryPoints: [join(here, 'page.ts'), join(here, 'page.css')],
  texts: {
    'index.html': fillIndex(read(here, 'index.html')),
    'icon.svg': read(here, 'icon.svg'),
  },
})

await buildPage({
  target: join(here, '../dist/overview'),
  entryPoints: [join(operators, 'overview.ts'), join(operators, 'overview.css')],
  texts: { 'index.html': read(operators, 'index.html'), 'icon.svg': read(here, 'icon.svg') },
  // The licence asks to be with every copy.
  licence: `/*! uPlot\n${read(uplot, 'LICENSE')}*/`,
})
