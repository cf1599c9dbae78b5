import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../test/temporary-folder.ts'
import { ROOT, readJson, readVersion } from '../release.ts'
import { buildRelease } from './released.ts'

const SOURCES = {
  contract: 'packages/contract',
  client: 'packages/client',
  cli: 'apps/cli',
  server: 'apps/server',
}

const here = temporaryFolder(afterAll)
const out = join(here, 'one')
const version = readVersion()
const sumsOf = (folder: string) => readFileSync(join(folder, 'SHA256SUMS'), 'utf8')

beforeAll(() => void buildRelease(out, '--only', 'npm'))

test('a second build, into another folder and under another umask, gives the same bytes', () => {
  const line = 'umask 077; exec "$0" release/build.ts --is-built --only npm --out "$1"'
  execFileSync('sh', ['-c', line, process.execPath, join(here, 'two')], { cwd: ROOT })
  expect(sumsOf(join(here, 'two'))).toBe(sumsOf(out))
})

test('the checksums are those of the four packages', () => {
  const args = ['--check', 'SHA256SUMS']
  const checked = execFileSync('sha256sum', args, { cwd: out, encoding: 'utf8' })
  expect(checked.match(/: OK$/gm)).toHaveLength(4)
})

describe.each(Object.entries(SOURCES))('the package %s', (name, source) => {
  const folder = join(here, 'node_modules/@plant-store', name)
  const read = (path: string) => readFileSync(join(folder, path), 'utf8')

  beforeAll(() => {
    mkdirSync(folder, { recursive: true })
    const file = join(out, `plant-store-${name}-${version}.tgz`)
    execFileSync('tar', ['-xf', file, '-C', folder, '--strip-components=1'])
  })

  test('has words, a changelog, a licence and its place, and nothing of the workspace', () => {
    const { repository: forge } = readJson('package.json')
    expect(read('README.md')).toBe(readFileSync(join(ROOT, source, 'README.md'), 'utf8'))
    expect(read('CHANGELOG.md')).toMatch(`# @plant-store/${name}\n\n## ${version}\n\n### `)
    expect(read('LICENSE')).toBe(readFileSync(join(ROOT, 'LICENSE'), 'utf8'))
    const manifest = JSON.parse(read('package.json'))
    expect(manifest).toMatchObject({
      name: `@plant-store/${name}`,
      version,
      license: 'MIT',
      homepage: `${forge}/tree/main/${source}#readme`,
      repository: { type: 'git', url: `git+${forge}.git`, directory: source },
    })
    for (const own of ['private', 'scripts', 'devDependencies']) {
      expect(manifest).not.toHaveProperty(own)
    }
    expect(manifest.dependencies).toEqual(
      source.startsWith('packages/')
        ? { zod: expect.stringMatching(/^\^4\.\d+\.\d+$/) }
        : undefined,
    )
  })
})

test('the client and the contract are found by their names', () => {
  symlinkSync(join(ROOT, 'packages/contract/node_modules/zod'), join(here, 'node_modules/zod'))
  const script = `
    import { createPlantStoreClient } from '@plant-store/client'
    import { NewPlant } from '@plant-store/contract'
    const { data } = NewPlant.safeParse({ id: 9223372036854775807n, name: 'Moss' })
    console.log(typeof createPlantStoreClient, data.id)`
  const args = ['--input-type=module', '--eval', script]
  expect(execFileSync(process.execPath, args, { cwd: here, encoding: 'utf8' })).toBe(
    'function 9223372036854775807n\n',
  )
})
