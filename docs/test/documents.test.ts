import { existsSync, globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { errorTable } from '@plant-store/contract'
import {
  environmentNameOf,
  flagOf,
  settingNames,
  settings,
} from '@plant-store/server/config/settings.js'
import { describe, expect, test } from 'vitest'
import { blocksOf, blockWith, documents, read, root, rowsOf } from './markdown.ts'

test("the README's table of errors is the contract's", () => {
  const rows = rowsOf('README.md', /^\d{5} /).map(([error, status]) => `${error} ${status}`)
  expect(rows).toEqual(
    Object.entries(errorTable).map(([name, { code, status }]) => `${code} \`${name}\` ${status}`),
  )
})

test("the README's table of settings is the server's, in the order of its help", () => {
  const documented = rowsOf('README.md', /^`PLANT_STORE_/).map(
    ([environment = '', flag = '', initial = '']) => [
      /`(\w+)`/.exec(environment)?.[1],
      flag,
      /`([^`]+)`/.exec(initial)?.[1],
    ],
  )
  const actual = settingNames.map((name) => [
    environmentNameOf(name),
    `\`${flagOf(name)}\``,
    settings[name].initial,
  ])
  expect(documented).toEqual(actual)
})

test("the README's program is the example that is compiled and run", () => {
  expect(blockWith('README.md', 'createPlantStoreClient').text).toBe(
    read('examples/first-plant.ts'),
  )
})

test('a reader of the README has stored a plant by line 20, and reads at most 250', () => {
  const lines = read('README.md').split('\n')
  const start = lines.indexOf('npx -y @plant-store/server')
  const reply = lines.indexOf('HTTP/1.1 200 OK')
  expect(start).toBeGreaterThan(0)
  expect(reply).toBeGreaterThan(start)
  expect(reply).toBeLessThan(20)
  expect(lines.length).toBeLessThanOrEqual(251)
})

test('every block is one that a test or the check runs', () => {
  // The blocks of docs/clients.md are files that `pnpm interop` runs.
  const commands = documents
    .filter((document) => document !== 'docs/clients.md')
    .flatMap(blocksOf)
    .filter(({ language }) => language === 'sh')
    .map(({ text }) => text.split('\n')[0])
  expect(commands.toSorted()).toEqual([
    'PLANT_STORE_TEST_POSTGRES_URL=postgres://owner@db.example/plants npx -y pnpm@12.16.0 test:database',
    'cd examples/plants',
    "export PLANT_STORE_DATABASE_URL='postgres://plant_store@db.example/plants?sslmode=verify-full'",
    'export PLANT_STORE_TOKEN=plant_…',
    'npm install -g @plant-store/cli',
    'npm install -g @plant-store/server',
    'npm install @plant-store/client',
    'npm install @plant-store/contract',
    'npx -y @plant-store/server',
    'npx -y @plant-store/server',
    'npx -y @plant-store/server',
    'npx -y pnpm@12.16.0 check',
    'npx -y pnpm@12.16.0 install',
    'npx -y pnpm@12.16.0 install',
    'npx -y pnpm@12.16.0 release:build',
    'npx -y pnpm@12.16.0 server backup plants-backup.db',
    'npx -y pnpm@12.16.0 server doctor',
    'npx -y pnpm@12.16.0 server export > plants.jsonl',
    'npx -y pnpm@12.16.0 server migrate --distributed',
    'npx -y pnpm@12.16.0 server openapi > packages/contract/openapi.json',
    'npx -y pnpm@12.16.0 server token create --name greenhouse --expires 30d',
    'npx -y pnpm@12.16.0 start',
    'npx -y pnpm@12.16.0 start',
    'npx -y pnpm@12.16.0 test',
    'npx -y pnpm@12.16.0 test:all --no-skips',
    'plant-store login http://127.0.0.1:3000',
    'sha256sum --check --ignore-missing SHA256SUMS',
    'sudo mkdir -p /opt/plant-store',
    'tar -xzf plant-store-*-linux-x64.tar.gz',
  ])
})

test('continuous integration runs every test and the check', () => {
  const script = read('.ci/run')
  const { scripts } = JSON.parse(read('package.json'))
  expect(script).toContain(blockWith('CONTRIBUTING.md', 'test:all').text.trim())
  expect(script).toContain(blockWith('CONTRIBUTING.md', 'pnpm@12.16.0 check').text.trim())
  expect(scripts['test:all'].split(' ')).toEqual([...scripts.test.split(' '), 'test:rest'])
})

test('CONTRIBUTING.md names only files and folders that exist', () => {
  const paths = read('CONTRIBUTING.md').matchAll(/`((?:apps|docs|operations|packages)\/[\w./-]+)`/g)
  const named = Array.from(paths, ([, path = '']) => path)
  expect(named.length).toBeGreaterThan(30)
  // Pictures come with the tests of the page.
  const made = ['apps/server/screenshots']
  expect(named.filter((path) => !made.includes(path) && !existsSync(join(root, path)))).toEqual([])
})

test('the table of dependencies names each of them', () => {
  const table = read('ARCHITECTURE.md').split('## Dependencies')[1] ?? ''
  const folders = '{.,docs,examples,apps/*,apps/*/tools,packages/*,packages/*/*}'
  for (const path of globSync(`${folders}/package.json`, { cwd: root })) {
    const { dependencies, devDependencies } = JSON.parse(read(path))
    for (const name of Object.keys({ ...dependencies, ...devDependencies })) {
      if (/^@(?:plant-store|types)\/|^typescript-/.test(name)) continue
      const row = name.startsWith('@opentelemetry/') ? '@opentelemetry/*' : name
      expect(table, path).toContain(`\`${row}\``)
    }
  }
})

describe.each(documents)('%s', (document) => {
  const text = read(document)

  test('names only scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json'))
    const own = ['install', 'exec', 'Node']
    const named = [...text.matchAll(/`(?:npx -y )?pnpm(?:@12\.16\.0)? ([\w:-]+)/g)]
    for (const [, script = ''] of named) expect([...Object.keys(scripts), ...own]).toContain(script)
  })

  test('starts programs in TypeScript with the Node.js of the project', () => {
    expect(text).not.toMatch(/`node \S+\.ts/)
    for (const [, program = ''] of text.matchAll(/exec node (\S+\.ts)/g)) {
      expect(existsSync(join(root, program)), program).toBe(true)
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
})
