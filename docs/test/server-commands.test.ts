import { mkdirSync, symlinkSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startPostgres } from '../../test/postgres-server.ts'
import { post } from '../../test/server-process.ts'
import { copyFreshly, filesLeftIn, plainEnvironment, runInShell } from './fresh-copy.ts'
import { blocksOf, blockWith, documents, root } from './markdown.ts'

const START = blockWith('README.md', 'pnpm@12.16.0 start').text

const blocks = documents
  .flatMap(blocksOf)
  .filter(({ language, text }) => language === 'sh' && text.includes('pnpm@12.16.0 server '))
  // It needs PostgreSQL with Citus.
  .filter(({ text }) => !text.includes('--distributed'))

const [move, ...moves] = blocks.filter(({ text }) => text.includes('plant-store import'))

async function succeed(folder: string, lines: string, environment: NodeJS.ProcessEnv = {}) {
  const { ended } = runInShell(folder, `set -e\n${lines}\necho all of it ran`, environment)
  expect(await ended, lines).toContain('all of it ran')
  return await ended
}

async function createDatabase(): Promise<string> {
  const postgres = await startPostgres()
  onTestFinished(() => postgres.stop())
  return await postgres.createDatabase()
}

test('every block with commands of the server does what it says, beside a running server', {
  timeout: 300_000,
}, async () => {
  expect(blocks.length).toBeGreaterThan(2)
  const databaseUrl = await createDatabase()
  const folder = copyFreshly()
  const server = runInShell(folder, START)
  const [, line = ''] = await server.print(/^ +(curl .*)$/m)
  expect(await runInShell(folder, line).ended).toMatch(/^HTTP\/1\.1 200 OK/m)
  for (const { text } of blocks) {
    if (text === move?.text) continue
    await succeed(folder, text.replaceAll(/'postgres:\/\/[^']*'/g, `'${databaseUrl}'`))
  }
  expect(filesLeftIn(folder)).toEqual([])
  await server.kill()
})

test('the lines that move plants do it from SQLite to PostgreSQL, and back', {
  timeout: 300_000,
}, async () => {
  const text = move?.text ?? ''
  expect(moves).toEqual([])
  const folder = copyFreshly()
  const programs = join(folder, 'data/programs')
  mkdirSync(programs, { recursive: true })
  symlinkSync(join(root, 'apps/cli/dist/main.js'), join(programs, 'plant-store'))
  const PATH = [programs, plainEnvironment().PATH].join(delimiter)

  const start = async (databaseUrl: string, known?: string) => {
    const named = { PLANT_STORE_DATABASE_URL: databaseUrl }
    await succeed(folder, 'npx -y pnpm@12.16.0 server migrate', named)
    const server = runInShell(folder, START, named)
    const [, url = ''] = await server.print(/listens on (\S+)/)
    const token = known ?? (await server.print(/^ {2}(plant_\S+)$/m))[1] ?? ''
    const create = async (id: bigint, name: string) =>
      (await post({ url, token }, { body: `{"id":${id},"name":"${name}"}` })).status
    const environment = { PATH, PLANT_STORE_BASE_URL: url, PLANT_STORE_TOKEN: token }
    return { create, environment }
  }

  const old = await start('sqlite:./data/plants.db')
  expect(await old.create(2n ** 63n - 1n, 'Fern')).toBe(200)
  const databaseUrl = await createDatabase()
  const made = await succeed(
    folder,
    'npx -y pnpm@12.16.0 server migrate\nnpx -y pnpm@12.16.0 server token create --name new',
    { PLANT_STORE_DATABASE_URL: databaseUrl },
  )
  const grown = await start(databaseUrl, /^plant_\S+$/m.exec(made)?.[0])
  await succeed(folder, text, grown.environment)
  expect(await old.create(-1n, 'Moss')).toBe(200)
  await succeed(folder, text, grown.environment)
  expect(await grown.create(2n ** 63n - 1n, 'another')).toBe(400)
  expect(await grown.create(-1n, 'another')).toBe(400)

  const back = await start('sqlite:./data/back.db')
  await succeed(folder, text.replace('sqlite:./data/plants.db', databaseUrl), back.environment)
  expect(await back.create(2n ** 63n - 1n, 'another')).toBe(400)
  expect(await back.create(-1n, 'Moss')).toBe(200)
  expect(filesLeftIn(folder)).toEqual([])
})
