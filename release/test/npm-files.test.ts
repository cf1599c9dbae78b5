import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Spec, Validation } from '@cyclonedx/cyclonedx-library'
import { extract } from 'tar'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readForge } from '../forge.ts'
import { ROOT } from '../root.ts'
import { buildRelease, createFolder } from './build.ts'

const here = createFolder()
const out = join(here, 'one')

beforeAll(() => void buildRelease(out, '--only', 'npm'))

afterAll(() => rmSync(here, { recursive: true, force: true }))

function digestsIn(folder: string): [string, string][] {
  return readdirSync(folder)
    .toSorted()
    .map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex'),
    ])
}

const SOURCES = {
  contract: 'packages/contract',
  client: 'packages/client',
  cli: 'apps/cli',
  server: 'apps/server',
}

const version: string = JSON.parse(
  readFileSync(join(ROOT, 'apps/server/package.json'), 'utf8'),
).version

test('a second build, into another folder and under another umask, gives the same bytes', () => {
  const work = join(here, 'work')
  mkdirSync(work)
  const command =
    'umask 077; TMPDIR="$1" exec "$2" release/build.ts --is-built --only npm --out "$3"'
  const args = ['-c', command, 'sh', work, process.execPath, join(here, 'two')]
  execFileSync('sh', args, { cwd: ROOT })
  expect(digestsIn(join(here, 'two'))).toEqual(digestsIn(out))
})

test('the checksums are those of every other file', () => {
  const lines = digestsIn(out)
    .filter(([name]) => name !== 'SHA256SUMS')
    .map(([name, digest]) => `${digest}  ${name}\n`)
  expect(lines).toHaveLength(8)
  expect(readFileSync(join(out, 'SHA256SUMS'), 'utf8')).toBe(lines.join(''))
})

describe.each(Object.entries(SOURCES))('the package %s', (name, source) => {
  const file = `plant-store-${name}-${version}.tgz`
  const folder = join(here, name)
  const read = (path: string) => readFileSync(join(folder, 'package', path), 'utf8')

  beforeAll(async () => {
    mkdirSync(folder)
    await extract({ cwd: folder, file: join(out, file) })
  })

  test('has words, a changelog, a licence and its place, and nothing of the workspace', () => {
    expect(read('README.md')).toBe(readFileSync(join(ROOT, source, 'README.md'), 'utf8'))
    expect(read('CHANGELOG.md')).toMatch(`# @plant-store/${name}\n\n## ${version}\n\n### `)
    expect(read('LICENSE')).toBe(readFileSync(join(ROOT, 'LICENSE'), 'utf8'))
    const manifest = JSON.parse(read('package.json'))
    expect(manifest).toMatchObject({
      name: `@plant-store/${name}`,
      version,
      license: 'MIT',
      homepage: `${readForge()}/tree/main/${source}#readme`,
      bugs: `${readForge()}/issues`,
      repository: { type: 'git', url: `git+${readForge()}.git`, directory: source },
    })
    expect(Object.keys(manifest)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(?:private|scripts|devDependencies)$/)]),
    )
    expect(manifest.dependencies).toEqual(
      name === 'contract' ? { zod: expect.stringMatching(/^\d+\.\d+\.\d+$/) } : undefined,
    )
  })

  test('has a bill of materials that CycloneDX accepts, with a licence for each package', async () => {
    const text = readFileSync(join(out, `${file}.cdx.json`), 'utf8')
    expect(await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text)).toBeNull()
    const { metadata, components } = JSON.parse(text)
    const [, digest] = digestsIn(out).find(([other]) => other === file) ?? []
    expect(metadata.component).toMatchObject({
      purl: `pkg:npm/%40plant-store/${name}@${version}`,
      hashes: [{ alg: 'SHA-256', content: digest }],
    })
    const packages: { name: string; purl: string; licenses: object[] }[] = components
    for (const { purl, licenses } of packages) {
      expect(purl).toMatch(/^pkg:npm\/(?:%40[\w-]+\/)?[\w.-]+@\d+\.\d+\.\d+/)
      expect(licenses).toHaveLength(1)
    }
    const listed = packages.map((one) => one.name)
    const expected = {
      contract: ['zod'],
      client: [],
      cli: ['commander', 'zod'],
      server: ['express', 'uplot', 'zod'],
    }
    expect(listed).toEqual(expect.arrayContaining(expected[name as keyof typeof expected]))
    expect(listed.length > 60).toBe(name === 'server')
  })
})

test('a bill of materials that leaves out what CycloneDX needs would be refused', async () => {
  const wrong = await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(
    '{"bomFormat":"CycloneDX"}',
  )
  expect(wrong).not.toBeNull()
})

describe('the place of the repository', () => {
  test('is that of the workflow that builds, or nothing is built', () => {
    expect(readForge('plant-store/plant-store')).toBe(readForge(undefined))
    expect(() => readForge('somebody/plant-store')).toThrow(
      /but this is a build of somebody\/plant-store/,
    )
  })

  test('is the same in every document that is published', () => {
    for (const source of Object.values(SOURCES)) {
      for (const document of ['README.md', 'CHANGELOG.md']) {
        const text = readFileSync(join(ROOT, source, document), 'utf8')
        const links = text.match(/https:\/\/github\.com\/[\w-]+\/plant-store/g) ?? []
        expect(links).toEqual(links.map(() => readForge()))
      }
    }
  })
})
