import { beforeAll, describe, expect, test } from 'vitest'
import { migratePostgresDatabase } from '../../src/postgres/migrate.ts'
import { openPostgresStore } from '../../src/postgres/postgres.ts'
import { findFreePort } from '../free-port.ts'
import { runToEnd } from '../process/server-process.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { newDatabase, usePostgres } from './use-postgres.ts'

const postgres = usePostgres()
let databaseUrl: string

beforeAll(async () => {
  databaseUrl = await newDatabase(postgres)
})

function open(url: string, allowDataLoss = false) {
  return openPostgresStore({ databaseUrl: url, allowDataLoss })
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

  test('with synchronous_commit = off in its URL', () =>
    expectRefusal(`${databaseUrl}?options=-c%20synchronous_commit%3Doff`, /synchronous_commit/))
})

describe('a schema that this program does not write is refused', () => {
  test('when it is older, until it is migrated', async () => {
    const url = await newDatabase(postgres)
    await postgres.query(url, 'DROP TABLE tokens, token_rates')
    await postgres.query(url, 'DELETE FROM migrations WHERE version > 1')
    await expectRefusal(url, /schema version 1 .* Try: plant-store-server migrate/)
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
  await expectRefusal(await postgres.createDatabase(options), /LATIN1.*UTF8/)
})

test('a host with several addresses where nothing listens is reported with the reason', async () => {
  const port = await findFreePort()
  const ended = await runToEnd({
    folder: temporaryFolder(),
    environment: {
      PLANT_STORE_DATABASE_URL: `postgres://plant_store:secret@localhost:${port}/plants`,
    },
  })
  expect(ended).toMatchObject({ code: 69, out: '' })
  expect(ended.err).toMatch(new RegExp(`localhost:${port}/plants .*ECONNREFUSED`))
  expect(ended.err).not.toContain('secret')
})
