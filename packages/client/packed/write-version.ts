import { readFileSync, writeFileSync } from 'node:fs'
import { pathOf } from './packages.ts'

const SOURCE = pathOf('../src/version.ts')
const { version } = JSON.parse(readFileSync(pathOf('../package.json'), 'utf8'))
const source = readFileSync(SOURCE, 'utf8')
writeFileSync(SOURCE, source.replace(/'.*'/, `'${version}'`))
