import { expect, test } from 'vitest'
import { startPostgres } from '../../apps/server/test/postgres/postgres-server.ts'
import { copyFreshly, runInShell } from './fresh-copy.ts'
import { blocksOf, blockWith, documents } from './markdown.ts'

const START = blockWith('README.md', 'pnpm@12.16.0 start').text

/** The address of a PostgreSQL in a document. */
const POSTGRES = /'postgres:\/\/[^']*'/g

const blocks = documents
  .flatMap(blocksOf)
  .filter(({ language, text }) => language === 'sh' && text.includes('pnpm@12.16.0 server '))
  // It needs PostgreSQL with Citus.
  .filter(({ text }) => !text.includes('--distributed'))

test('every block with commands of the server does what it says, beside a running server', {
  timeout: 300_000,
}, async () => {
  expect(blocks.length).toBeGreaterThan(2)
  const postgres = await startPostgres()
  try {
    const folder = copyFreshly()
    const server = runInShell(folder, START)
    const [, line = ''] = await server.print(/^ +(curl .*)$/m)
    expect(await runInShell(folder, line).ended).toMatch(/^HTTP\/1\.1 200 OK/m)
    const databaseUrl = await postgres.createDatabase()
    for (const { document, text } of blocks) {
      const lines = text.replaceAll(POSTGRES, `'${databaseUrl}'`)
      const { ended } = runInShell(folder, `set -e\n${lines}\necho all of it ran`)
      expect(await ended, `${document}: ${text}`).toContain('all of it ran')
    }
    await server.kill()
  } finally {
    await postgres.stop()
  }
})
