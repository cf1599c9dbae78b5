import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildPage } from './build-page.ts'
import { fillIndex } from './fill-index.ts'

const sources = import.meta.dirname
const read = (name: string) => readFileSync(join(sources, name), 'utf8')

await buildPage({
  target: join(sources, '../dist/page'),
  entryPoints: [join(sources, 'page.ts'), join(sources, 'page.css')],
  texts: { 'index.html': fillIndex(read('index.html')), 'icon.svg': read('icon.svg') },
})
