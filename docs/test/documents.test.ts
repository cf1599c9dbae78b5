import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { blocksOf, blockWith, documents, read, root } from './markdown.ts'

const { repository, scripts } = JSON.parse(read('package.json'))

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
  expect(lines.length).toBeLessThanOrEqual(121)
})

/** How the blocks in `sh` begin, and the file that tries them, or why nothing does. */
const TRIED: readonly (readonly [RegExp, by: string])[] = [
  [/^npx -y pnpm@12\.16\.0 start$/, 'docs/test/first-plant.test.ts'],
  [/^export PLANT_STORE_TOKEN=.*\ncurl /, 'docs/test/first-plant.test.ts'],
  [/ server migrate --distributed$/, 'apps/server/test/postgres/citus.test.ts'],
  [/^(?:export .*\n)*npx -y pnpm@12\.16\.0 server /, 'docs/test/server-commands.test.ts'],
  [/^npm install -g \.\/dist\/release\/.*(?:server|cli)/, 'release/test/npm.test.ts'],
  [/^(?:sha256sum|tar|sudo mkdir) /, 'release/test/archives.test.ts'],
  [/^npx -y pnpm@12\.16\.0 (?:install|check|test|test:all)\b/, '.ci/run'],
  [/^npx -y pnpm@12\.16\.0 release:build$/, 'release/test/released.ts'],
  [/^plant-store login \S+$/, 'apps/cli/test/login.test.ts'],
  [/^plant-store login /, 'nothing: each command has its test in apps/cli'],
  [/^litestream /, 'apps/server/test/commands/litestream.test.ts'],
  [/^plant-store-server export > newer/, 'apps/server/test/one-definition/new-field.test.ts'],
  [/^mkdir damaged /, 'docs/test/damaged-pages.test.ts'],
  [/^\S+\/node --permission /, 'docs/test/deployment.test.ts'],
  [/^export PLANT_STORE_BASE_URL=.*\n.*\nexport DOCUMENT=/, 'apps/interop/test/clients.test.ts'],
  [/^(?:go|npm|python3) /, 'apps/interop/test/page.test.ts'],
  [/^(?:git worktree|pnpm bench) /, 'nothing: it measures for minutes'],
  [/^sudo useradd /, 'nothing: it makes a user, and starts units of systemd'],
  [/^install -m .*\.timer /, 'nothing: it starts units of systemd'],
  [/^podman /, 'nothing: it needs podman'],
]

const commands = documents.flatMap(blocksOf).filter(({ language }) => language === 'sh')

test.each(commands)(
  'the block in $document that begins with $text is tried, or says why not',
  ({ text }) => {
    const [, by = ''] = TRIED.find(([pattern]) => pattern.test(text.trimEnd())) ?? []
    expect(by.startsWith('nothing: ') || existsSync(join(root, by)), by).toBe(true)
  },
)

test('what is shown as text is no command', () => {
  const texts = documents.flatMap(blocksOf).filter(({ language }) => language === 'text')
  for (const { text } of texts) {
    expect(text).not.toMatch(/^(?:sudo|npx|npm|pnpm|plant-store\S*|systemctl|podman|curl) /m)
  }
})

test('one document names the registry, and the OpenAPI document alone the repository of package.json, since neither is there yet', () => {
  const installs = /\bnp(?:x|m (?:i|install))\b[^`\n]*@plant-store\/|registry of npm/
  const named = documents.filter((document) => installs.test(read(document)))
  expect(named).toEqual(['docs/installing.md'])
  const files = execFileSync('git', ['grep', '-lF', repository], { cwd: root, encoding: 'utf8' })
  const contract = ['packages/contract/openapi.json', 'packages/contract/src/openapi.ts']
  expect(files.trim().split('\n')).toEqual(['package.json', ...contract])
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
