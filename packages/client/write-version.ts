import { readFileSync, writeFileSync } from 'node:fs'

const SOURCE = new URL('src/version.ts', import.meta.url)
const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'))
writeFileSync(SOURCE, readFileSync(SOURCE, 'utf8').replace(/'.*'/, `'${version}'`))
