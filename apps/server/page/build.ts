import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The files of swagger-ui-dist that the page needs, and those that its licence requires. */
const SWAGGER_FILES = [
  'swagger-ui-bundle.js',
  'swagger-ui.css',
  'swagger-ui-bundle.js.LICENSE.txt',
  'LICENSE',
  'NOTICE',
]

const page = import.meta.dirname
const target = join(page, '../dist/page')
const swagger = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')))

rmSync(target, { recursive: true, force: true })
mkdirSync(target, { recursive: true })
for (const file of ['index.html', 'icon.svg', 'page.css', 'page.js']) {
  cpSync(join(page, file), join(target, file))
}
for (const file of SWAGGER_FILES) cpSync(join(swagger, file), join(target, file))
