import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startPostgres } from '../../apps/server/test/postgres/postgres-server.ts'
import { copyFreshly, runInShell } from './fresh-copy.ts'
import { blockWith } from './markdown.ts'

const START = blockWith('README.md', 'pnpm@12.16.0 start').text
const BACKUP = blockWith('docs/recovery.md', 'server backup').text
const EXPORT = blockWith('docs/recovery.md', 'server export').text
const DOCTOR = blockWith('docs/recovery.md', 'server doctor').text
const RENEW = blockWith('CONTRIBUTING.md', 'server openapi').text
const MAKE = blockWith('docs/growing.md', 'server migrate').text.trim().split('\n')
const CHANGE = blockWith('docs/growing.md', 'pnpm@12.16.0 start').text

/** A clone whose store holds one plant, its server running. */
async function startWithOnePlant() {
  const folder = copyFreshly()
  const server = runInShell(folder, START)
  const [, line = ''] = await server.print(/^ +(curl .*)$/m)
  expect(await runInShell(folder, line).ended).toMatch(/^HTTP\/1\.1 200 OK/m)
  return { folder, server, line }
}

async function succeed(folder: string, line: string): Promise<string> {
  return runInShell(folder, `set -e\n${line}\necho all of it ran`).ended
}

test('every block on backup and recovery does what it says, beside a running server', {
  timeout: 300_000,
}, async () => {
  const { folder, server } = await startWithOnePlant()
  expect(await succeed(folder, BACKUP)).toContain('all of it ran')
  expect(await succeed(folder, EXPORT)).toContain('all of it ran')
  const exported = readFileSync(join(folder, 'plants.jsonl'), 'utf8')
  expect(exported).toBe('{"id":1,"name":"Fern","tag":"indoor"}\n')
  expect(await succeed(folder, DOCTOR)).toContain('all of it ran')
  // A clone is at hand here, whose committed document is the one that it makes.
  const document = readFileSync(join(folder, 'packages/contract/openapi.json'), 'utf8')
  expect(await succeed(folder, RENEW)).toContain('all of it ran')
  expect(readFileSync(join(folder, 'packages/contract/openapi.json'), 'utf8')).toBe(document)
  await server.kill()
})

test('every line on growing past one machine does what it says', { timeout: 300_000 }, async () => {
  const postgres = await startPostgres()
  try {
    const { folder, server, line } = await startWithOnePlant()
    const databaseUrl = await postgres.createDatabase()
    const [first = '', ...rest] = MAKE
    const here = first.replace(/'.*'/, `'${databaseUrl}'`)
    const made = await succeed(folder, [here, ...rest].join('\n'))
    expect(made).toContain('all of it ran')
    const late = line.replace('"id":1', '"id":2')
    expect(await runInShell(folder, late).ended).toMatch(/^HTTP\/1\.1 200 OK/m)
    await server.kill()

    expect(CHANGE).toBe(START)
    const grown = runInShell(folder, `${here}\n${CHANGE}`)
    const [, address = ''] = await grown.print(/listens on (\S+)/)
    const token = /^plant_\S+$/m.exec(made)?.[0]
    const create = (id: number, name: string) =>
      fetch(`${address}/plants`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ id, name, tag: 'indoor' }),
      })
    for (const id of [1, 2]) {
      expect((await create(id, 'Fern')).status).toBe(200)
      expect((await create(id, 'Moss')).status).toBe(400)
    }
    await grown.kill()
  } finally {
    await postgres.stop()
  }
})
