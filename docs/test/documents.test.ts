import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { blocksOf, blockWith, documents, read, root } from './markdown.ts'

const { scripts } = JSON.parse(read('package.json'))

test.each(['README.md', 'docs/clients.md'])(
  'the first program of %s is the example that is compiled and run',
  (document) => {
    const example = read('examples/first-plant.ts')
    expect(blockWith(document, 'createPlantStoreClient').text).toBe(example)
  },
)

test('a reader of the README has stored a plant soon, and reads little more', () => {
  const lines = read('README.md').split('\n')
  const start = lines.findIndex((line) => line.startsWith('npx -y '))
  const response = lines.indexOf('HTTP/1.1 200 OK')
  expect(start).toBeGreaterThan(0)
  expect(response).toBeGreaterThan(start)
  expect(response).toBeLessThan(40)
  expect(lines.length).toBeLessThanOrEqual(251)
})

/** How the blocks in `sh` begin that are run, and by what. */
const RUN: readonly (readonly [RegExp, by: string])[] = [
  [/^npx -y pnpm@12\.16\.0 start$/, 'docs/test/first-plant.test.ts'],
  [/^export PLANT_STORE_TOKEN=.*\ncurl /, 'docs/test/first-plant.test.ts'],
  [/^(?:export .*\n)*npx -y pnpm@12\.16\.0 server /, 'docs/test/server-commands.test.ts'],
  [/^(?:npx -y|npm install -g) @plant-store\/server$/, 'release/test/npm.test.ts'],
  [/^(?:sha256sum|tar|sudo mkdir) /, 'release/test/archives.test.ts'],
  [/^npm install (?:-g )?@plant-store\/(?:cli|client|contract)$/, 'release/test/npm.test.ts'],
  [/^npx -y pnpm@12\.16\.0 (?:install|check|test|test:all|release:build)\b/, '.ci/run'],
  [/^(?:npx -y )?pnpm(?:@12\.16\.0)? bench\b/, 'apps/benchmark/test'],
  [/^(?:git worktree|plant-store|cd) /, 'nothing: shown for readers'],
]

test.each(
  documents
    // Its blocks are files that `pnpm interop` runs.
    .filter((document) => document !== 'docs/clients.md')
    .flatMap(blocksOf)
    .filter(({ language }) => language === 'sh'),
)('the block in $document that begins with $text is one that is run', ({ text }) => {
  const [, by] = RUN.find(([pattern]) => new RegExp(pattern, 'm').test(text)) ?? []
  expect(by).toBeDefined()
})

test('continuous integration runs every test and the linters', () => {
  const script = read('.ci/run')
  expect(script).toMatch(/^npx -y pnpm@12\.16\.0 test:all --no-skips/m)
  expect(script).toMatch(/^npx -y pnpm@12\.16\.0 lint/m)
  expect(scripts['test:all']).toBe(`${scripts.test} --all`)
})

describe.each(documents)('%s', (document) => {
  const text = read(document)

  test('names only scripts and files that exist', () => {
    const own = ['install', 'exec', 'Node', 'sbom']
    const named = [...text.matchAll(/`(?:npx -y )?pnpm(?:@12\.16\.0)? ([a-z][\w:-]*)/g)]
    for (const [, script = ''] of named) expect([...Object.keys(scripts), ...own]).toContain(script)
    const paths = text.matchAll(/`((?:apps|operations|packages|release)\/[\w./-]+)`/g)
    // What tests and the benchmark make.
    const made = ['apps/server/screenshots', 'apps/benchmark/.data']
    for (const [, path = ''] of paths) {
      expect(made.includes(path) || existsSync(join(root, path)), path).toBe(true)
    }
  })

  test('links only to files and headings that exist', () => {
    for (const [, target = ''] of text.matchAll(/\]\(([^)]+)\)/g)) {
      if (target.startsWith('http')) continue
      const [path = '', heading] = target.split('#')
      const linked = path === '' ? document : join(dirname(document), path)
      expect(existsSync(join(root, linked)), target).toBe(true)
      if (heading === undefined) continue
      const headings = [...read(linked).matchAll(/^#+ (.*)$/gm)].map(([, words = '']) =>
        words
          .toLowerCase()
          .replace(/[^\w\s-]/g, '')
          .replace(/\s/g, '-'),
      )
      expect(headings, target).toContain(heading)
    }
  })

  test('quotes only claims that a test makes', () => {
    const quoted = text.matchAll(/\]\(([\w./-]+\.test\.ts)\)[^"\n|]*"([^"\n]+)"/g)
    for (const [, path = '', claim = ''] of quoted) {
      const line = read(join(dirname(document), path))
        .split('\n')
        .find((candidate) => candidate.includes(claim))
      expect(line, claim).toMatch(/\b(?:test|describe)\b|^\s*\]\)\(|^\s*['"]/)
    }
  })
})
