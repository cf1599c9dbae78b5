import { beforeAll, describe, expect, test } from 'vitest'
import { migratePostgresDatabase } from '../../src/engines/postgres/migrate.ts'
import { openPostgresStore } from '../../src/engines/postgres/postgres.ts'
import { runToEnd } from '../process/server-process.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { findFreePort } from './postgres-server.ts'
import { newDatabase, usePostgres } from './use-postgres.ts'

const UNAVAILABLE = 69

const postgres = usePostgres()
let databaseUrl: string

beforeAll(async () => {
  databaseUrl = await newDatabase(postgres)
})

function open(url: string, allowDataLoss = false) {
  return openPostgresStore({ databaseUrl: url, queueLimit: 8, allowDataLoss })
}

async function expectRefusal(url: string, message: RegExp): Promise<void> {
  await expect(open(url)).rejects.toMatchObject({
    name: 'StoreRefusedError',
    message: expect.stringMatching(message),
  })
}

async function expectServing(url: string, allowDataLoss: boolean): Promise<void> {
  const store = await open(url, allowDataLoss)
  expect(await store.isReady()).toBe(true)
  await store.close()
}

function serveToEnd(url: string) {
  return runToEnd({
    folder: temporaryFolder(),
    environment: { PLANT_STORE_DATABASE_URL: url },
  })
}

describe('a server under which a commit that was answered could be lost is refused', () => {
  test.each(['fsync', 'full_page_writes', 'synchronous_commit'])(
    'with %s = off, unless data may be lost',
    async (name) => {
      await postgres.set(name, 'off')
      await expectRefusal(databaseUrl, new RegExp(`${name} = off.*Set it to on, or start with`))
      await expectServing(databaseUrl, true)
      await postgres.set(name, 'DEFAULT')
      await expectServing(databaseUrl, false)
    },
  )

  test.each([
    ['the database', (database: string) => `DATABASE ${database}`],
    ['the role', () => 'ROLE plant_store'],
    ['the role in the database', (database: string) => `ROLE plant_store IN DATABASE ${database}`],
  ])('with synchronous_commit = off for %s', async (_whose, target) => {
    const subject = target(new URL(databaseUrl).pathname.slice(1))
    await postgres.query(databaseUrl, `ALTER ${subject} SET synchronous_commit = off`)
    await expectRefusal(databaseUrl, /synchronous_commit = off/)
    await expectServing(databaseUrl, true)
    await postgres.query(databaseUrl, `ALTER ${subject} RESET synchronous_commit`)
    await expectServing(databaseUrl, false)
  })

  test('with synchronous_commit = off in its URL', () =>
    expectRefusal(`${databaseUrl}?options=-c%20synchronous_commit%3Doff`, /synchronous_commit/))
})

describe('a schema that this program does not write is refused', () => {
  test('when it is missing, in words that name the command that makes it', async () => {
    const ended = await serveToEnd(await postgres.createDatabase())
    expect(ended).toMatchObject({ code: UNAVAILABLE, out: '' })
    expect(ended.err).toMatch(/schema version 0 .* needs \d+\. Try: plant-store-server migrate/)
  })

  test('when it is older, until it is migrated', async () => {
    const url = await newDatabase(postgres)
    await postgres.query(url, 'DROP TABLE tokens, token_rates')
    await postgres.query(url, 'DELETE FROM migrations WHERE version > 1')
    await expectRefusal(url, /schema version 1 .* Try: the migrations/)
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

  test('and eight programs that migrate at once apply each change once', async () => {
    const url = await postgres.createDatabase()
    const ends = await Promise.all(
      Array.from({ length: 8 }, () => migratePostgresDatabase(url, false)),
    )
    expect(ends.filter(({ before }) => before === 0)).toHaveLength(1)
    await expectServing(url, false)
  })
})

test('a database in another encoding is refused, since it cannot hold every name', async () => {
  const options = "ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0"
  await expectRefusal(await postgres.createDatabase(options), /LATIN1.*UTF8/)
})

describe('a database that cannot be reached is unavailable, and the message says why', () => {
  test.each(['127.0.0.1', 'localhost'])('when nothing listens at %s', async (host) => {
    const port = await findFreePort()
    const ended = await serveToEnd(`postgres://plant_store:secret@${host}:${port}/plants`)
    expect(ended).toMatchObject({ code: UNAVAILABLE, out: '' })
    expect(ended.err).toMatch(new RegExp(`${host}:${port}/plants .*ECONNREFUSED`))
    expect(ended.err).not.toContain('secret')
  })

  test.each([
    ['there is no such database', 'plant_store:correct%20horse', 'nowhere', /does not exist/],
    ['the password is wrong', 'plant_store:secret', 'postgres', /password authentication failed/],
  ])('when %s', async (_why, credentials, database, message) => {
    const url = `postgres://${credentials}@127.0.0.1:${postgres.port}/${database}`
    const error = await open(url).catch((reason) => reason)
    expect(error).toMatchObject({ name: 'StoreUnavailableError' })
    expect(error.message).toMatch(message)
    expect(error.message).not.toMatch(/secret|horse/)
  })
})
