import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { migratePostgresDatabase } from '../../src/postgres/migrations.ts'
import { refuseSharedSessions } from '../../src/postgres/pool.ts'
import { openPostgresStore } from '../../src/postgres/store.ts'
import { runProgram } from '../commands/program.ts'
import { findFreePort } from '../free-port.ts'
import { clientOf, prepareDatabase, serve, waitForReadiness } from './served-database.ts'
import { openSession, waitForRow } from './sessions.ts'
import { newDatabase, openStoreAt, usePostgres } from './use-postgres.ts'

const postgres = usePostgres()
let databaseUrl: string

beforeAll(async () => {
  databaseUrl = await newDatabase(postgres)
})

function run(url: string, ...args: string[]) {
  return runProgram([...args, '--database-url', url])
}

async function expectRefusal(url: string, message: RegExp, fix: RegExp = /^/): Promise<void> {
  await expect(openStoreAt(url)).rejects.toMatchObject({
    name: 'StoreRefusedError',
    message: expect.stringMatching(message),
    fix: expect.stringMatching(fix),
  })
}

async function expectServing(url: string, allowDataLoss: boolean): Promise<void> {
  const store = await openPostgresStore({ databaseUrl: url, allowDataLoss })
  expect(await store.isReady()).toBe(true)
  await store.close()
}

describe('a server under which a commit that was answered could be lost is refused', () => {
  test.each(['fsync', 'full_page_writes', 'synchronous_commit'])(
    'with %s = off, unless data may be lost',
    async (name) => {
      await postgres.set(name, 'off')
      await expectRefusal(
        databaseUrl,
        new RegExp(`${name} = off`),
        /PLANT_STORE_ALLOW_DATA_LOSS=yes/,
      )
      await expectServing(databaseUrl, true)
      await postgres.set(name, 'DEFAULT')
      await expectServing(databaseUrl, false)
    },
  )

  test('with synchronous_commit = off in its URL', () =>
    expectRefusal(`${databaseUrl}?options=-c%20synchronous_commit%3Doff`, /synchronous_commit/))

  test.each(['plants', 'tokens'])('with a table that a crash would empty: %s', async (table) => {
    const url = await newDatabase(postgres)
    await postgres.query(url, `ALTER TABLE ${table} SET UNLOGGED`)
    await expectRefusal(url, new RegExp(`${table} UNLOGGED`))
  })

  test('by a store that is open, on each new connection', async () => {
    const url = await newDatabase(postgres)
    const store = await openStoreAt(url)
    const database = new URL(url).pathname.slice(1)
    await postgres.query(url, `ALTER DATABASE ${database} SET synchronous_commit = off`)
    const endSessions = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = 'plant-store' AND datname = current_database()`
    await postgres.query(url, endSessions)
    const create = () => store.plants.create({ id: 1n, name: 'Fern' }).catch(String)
    await expect.poll(create).toMatch(/^StoreUnavailableError: .*synchronous_commit = off/)
  })
})

describe('a schema that this program does not write is refused', () => {
  test('when it is older, until it is migrated', async () => {
    const url = await newDatabase(postgres)
    await postgres.query(url, 'DROP TABLE tokens, token_rates')
    await postgres.query(url, 'DELETE FROM migrations WHERE version > 1')
    await expectRefusal(url, /schema version 1 /, /plant-store-server migrate/)
    expect(await migratePostgresDatabase(url, false)).toMatchObject({ before: 1 })
    await expectServing(url, false)
  })

  test('when it is newer, by the command that migrates as well', async () => {
    const url = await newDatabase(postgres)
    const later = "INSERT INTO migrations (version, name, applied_at) VALUES (99, 'later', 0)"
    await postgres.query(url, later)
    await expectRefusal(url, /schema version 99, newer than/)
    await expect(migratePostgresDatabase(url, false)).rejects.toThrow(/schema version 99, newer/)
  })
})

test('a database in another encoding is refused, since it cannot hold every name', async () => {
  const options = "ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0"
  const url = await postgres.createDatabase(options)
  await expect(openStoreAt(url)).rejects.toThrow(/LATIN1.*UTF8/)
})

test('a pooler that shares sessions is refused: two connections that are one show it', async () => {
  const [one, other] = [await openSession(databaseUrl), await openSession(databaseUrl)]
  await refuseSharedSessions([one, other], 'here')
  await expect(refuseSharedSessions([one, one], 'here')).rejects.toMatchObject({
    name: 'StoreRefusedError',
    fix: expect.stringContaining('pool_mode = session'),
  })
})

test('a PostgreSQL without TLS is not spoken to in plain text where TLS is required', async () => {
  await expect(openStoreAt(`${databaseUrl}?sslmode=require`)).rejects.toMatchObject({
    name: 'StoreUnavailableError',
    detail: expect.stringMatching(/does not support SSL/),
  })
})

describe('a database that cannot be used', () => {
  test.each(['migrate', 'export', 'token list', 'serve', 'doctor'])(
    'is reported by `%s` with the reason and what to do',
    async (command) => {
      const port = await findFreePort()
      const url = `postgres://plant_store:secret@localhost:${port}/plants`
      const { code, err } = await run(url, ...command.split(' '))
      expect(code).toBe(69)
      expect(err).toMatch(/localhost:\d+\/plants cannot be used: .*ECONNREFUSED.*Try: start the/)
      expect(err).not.toMatch(/secret|^ {4}at /m)
    },
  )

  test('is reported where its password or its name is wrong, or there is no password', async () => {
    const url = new URL(await postgres.createDatabase())
    url.pathname = '/nothing'
    expect((await run(url.href, 'migrate')).err).toMatch(/does not exist\. Try: .*createdb/)
    url.password = 'wrong'
    const { err } = await run(url.href, 'export')
    expect(err).toMatch(/password authentication .*Try: fix the user/)
    expect(err).not.toContain('wrong')
    url.password = ''
    expect((await run(url.href, 'export')).err).toMatch(/asks for a password, and .*PGPASSFILE/)
  })
})

/** The SQL of docs/growing.md, for a role. */
function readLeastGrants(role: string): string {
  const text = readFileSync(new URL('../../../../docs/growing.md', import.meta.url), 'utf8')
  const [, block = ''] = /```sql\n(GRANT[^`]*)```/.exec(text) ?? []
  return block.replaceAll('plant_store_server', role)
}

test('a role with the grants of the document stores, repeats and marks tokens, and may do no more', async () => {
  const owner = await prepareDatabase(await postgres.createDatabase())
  await postgres.query(owner.databaseUrl, "CREATE ROLE least LOGIN PASSWORD 'least'")
  await postgres.query(owner.databaseUrl, readLeastGrants('least'))
  const url = owner.databaseUrl.replace(/\/\/.*@/, '//least:least@')
  const server = await serve({ ...owner, databaseUrl: url })
  const client = clientOf(server.url, owner.token)
  const create = (name: string) => client.rest.createPlant({ body: { id: 1, name } })
  expect(await create('Fern')).toMatchObject({ status: 200 })
  expect(await create('Fern')).toMatchObject({ status: 200 })
  expect(await create('Moss')).toMatchObject({ status: 400, body: { error: 40_003 } })
  await waitForRow(
    await openSession(owner.databaseUrl),
    'SELECT FROM tokens WHERE last_used_at IS NOT NULL',
  )
  for (const text of [
    'DELETE FROM plants',
    "UPDATE plants SET name = ''",
    'UPDATE tokens SET revoked_at = NULL',
    'DELETE FROM tokens',
  ]) {
    await expect(postgres.query(url, text)).rejects.toThrow(/permission denied/)
  }
  await postgres.query(owner.databaseUrl, 'REVOKE INSERT ON plants FROM least')
  expect(await create('Fern')).toMatchObject({ status: 503 })
  await waitForReadiness(server, false)
  expect((await run(url, 'serve')).err).toMatch(/permission denied for table plants\. Try: .*GRANT/)
  await postgres.query(owner.databaseUrl, 'GRANT INSERT ON plants TO least')
  await waitForReadiness(server, true)
  expect(await create('Fern')).toMatchObject({ status: 200 })
})
