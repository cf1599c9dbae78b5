import { chownSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createCertificate, needsOpenssl } from '../../../../test/certificate.ts'
import { findFreePort } from '../../../../test/free-port.ts'
import { migratePostgresDatabase } from '../../src/postgres/migrations.ts'
import { runAt } from '../commands/program.ts'
import { prepareDatabase, readRows, serve } from './served-database.ts'
import {
  asServer,
  END_STORE_SESSIONS,
  nameOf,
  newDatabase,
  openSession,
  openStoreAt,
  usePostgres,
  waitForRow,
} from './use-postgres.ts'

const postgres = usePostgres()
let databaseUrl: string

beforeAll(async () => {
  databaseUrl = await newDatabase(postgres)
})

async function expectRefusal(url: string, message: RegExp, fix = /^/): Promise<void> {
  const error = await openStoreAt(url).catch((thrown) => thrown)
  expect(error).toMatchObject({ name: 'StoreRefusedError' })
  expect(error.message).toMatch(message)
  expect(error.fix ?? '').toMatch(fix)
}

async function expectServing(url: string, allowDataLoss = false): Promise<void> {
  expect(await (await openStoreAt(url, allowDataLoss)).isReady()).toBe(true)
}

describe('a server under which a commit that was answered could be lost is refused', () => {
  test.each(['fsync', 'full_page_writes', 'synchronous_commit'])(
    'with %s = off, unless data may be lost',
    async (name) => {
      await postgres.set(name, 'off')
      await expectRefusal(databaseUrl, new RegExp(`${name} = off`), /ALLOW_DATA_LOSS=yes/)
      await expectServing(databaseUrl, true)
      await postgres.set(name, 'DEFAULT')
      await expectServing(databaseUrl)
    },
  )

  test('with synchronous_commit = off in its URL', () =>
    expectRefusal(`${databaseUrl}?options=-c%20synchronous_commit%3Doff`, /synchronous_commit/))

  test('by a store that is open, on each new connection', async () => {
    const url = await newDatabase(postgres)
    const store = await openStoreAt(url)
    await postgres.query(url, `ALTER DATABASE ${nameOf(url)} SET synchronous_commit = off`)
    await postgres.query(url, END_STORE_SESSIONS)
    const create = () => store.plants.create({ id: 1n, name: 'Fern' }).catch(String)
    await expect.poll(create).toMatch(/^StoreUnavailableError: .*synchronous_commit = off/)
  })
})

const OLDER = 'DROP TABLE tokens, token_rates; DELETE FROM migrations WHERE version > 1'
const NEWER = "INSERT INTO migrations (version, name, applied_at) VALUES (99, 'later', 0)"

test.each([
  ['plants that a crash would empty', 'ALTER TABLE plants SET UNLOGGED', /plants UNLOGGED/],
  ['tokens that a crash would empty', 'ALTER TABLE tokens SET UNLOGGED', /tokens UNLOGGED/],
  ['a schema that is older', OLDER, /schema version 1 /, /plant-store-server migrate/],
  ['a schema that is newer', NEWER, /schema version 99, newer than/],
])(
  'a database with %s is refused, to be migrated only where that helps',
  async (_what, sql, message, fix = /^/) => {
    const url = await newDatabase(postgres)
    await postgres.query(url, sql)
    await expectRefusal(url, message, fix)
    const migrated = migratePostgresDatabase(url, false)
    if (sql !== OLDER) return expect(migrated).rejects.toThrow(message)
    expect(await migrated).toMatchObject({ before: 1 })
    await expectServing(url)
  },
)

test('a database in another encoding is refused, since it cannot hold every name', async () => {
  const options = "ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0"
  await expectRefusal(await postgres.createDatabase(options), /LATIN1.*UTF8/)
})

/** The end of PostgreSQL's messages while no transaction is open: ReadyForQuery. */
const IS_READY = Buffer.from('Z\0\0\0\x05I', 'latin1')

/** The port of a pooler that runs the statements of all its callers in the session of the first. */
async function startSharingPooler(): Promise<number> {
  let shared: Socket | undefined
  let asker: Socket | undefined
  const pooler = createServer((caller) => {
    const session = connect(postgres.port, '127.0.0.1').on('error', () => {})
    let isReady = false
    shared ??= session
    session.on('data', (chunk) => {
      const target = isReady ? asker : caller
      isReady ||= chunk.includes(IS_READY)
      target?.write(chunk)
    })
    caller
      .on('error', () => {})
      .on('data', (chunk) => {
        asker = caller
        const target = isReady ? shared : session
        target?.write(chunk)
      })
    caller.on('close', () => session.destroy())
  })
  await new Promise<void>((resolve) => pooler.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void pooler.close())
  return (pooler.address() as AddressInfo).port
}

test('a pooler that shares sessions is refused', async () => {
  const port = await startSharingPooler()
  const url = databaseUrl.replace(`:${postgres.port}/`, `:${port}/`)
  await expectRefusal(url, /shares sessions/, /pool_mode = session/)
})

test('a PostgreSQL without TLS is not spoken to in plain text where TLS is required', async () => {
  await expect(openStoreAt(`${databaseUrl}?sslmode=require`)).rejects.toMatchObject({
    name: 'StoreUnavailableError',
    detail: expect.stringMatching(/does not support SSL/),
  })
})

test(
  'a PostgreSQL whose certificate is not trusted is named with what to set',
  needsOpenssl,
  async () => {
    const { key, cert } = createCertificate()
    const { uid, gid } = statSync(postgres.folder)
    const file = (name: string) => join(postgres.folder, name)
    for (const [name, text] of Object.entries({ 'server.key': key, 'server.crt': cert })) {
      writeFileSync(file(name), text, { mode: 0o600 })
      chownSync(file(name), uid, gid)
    }
    await postgres.set('ssl', 'on')
    onTestFinished(() => postgres.set('ssl', 'DEFAULT'))
    const url = `${databaseUrl}?sslmode=verify-full`
    const { err } = await runAt(url, 'serve')
    expect(err).toMatch(/cannot be used: self-signed certificate.*Try: sslrootcert=FILE in/)
    await expectServing(`${url}&sslrootcert=${file('server.crt')}`)
  },
)

describe('a database that cannot be used', () => {
  test.each(['migrate', 'export', 'token list', 'serve', 'doctor'])(
    'is reported by `%s` with the reason and what to do',
    async (command) => {
      const port = await findFreePort()
      const url = `postgres://plant_store:secret@localhost:${port}/plants`
      const { code, err } = await runAt(url, command)
      expect(code).toBe(69)
      expect(err).toMatch(/localhost:\d+\/plants cannot be used: .*ECONNREFUSED.*Try: start the/)
      expect(err).not.toMatch(/secret|^ {4}at /m)
    },
  )

  test.each([
    ['its name', { pathname: '/nothing' }, /does not exist\. Try: .*createdb/],
    ['its password', { password: 'wrong' }, /password authentication .*Try: fix the user/],
    ['no password', { password: '' }, /asks for a password, and .*PGPASSFILE/],
  ])('is reported where %s is wrong', async (_what, change, message) => {
    const { href } = Object.assign(new URL(databaseUrl), change)
    const { err } = await runAt(href, 'export')
    expect(err).toMatch(message)
    expect(err).not.toContain('wrong')
  })
})

test('a role with the grants of the document stores, repeats and marks tokens, and may do no more', async () => {
  const owner = await prepareDatabase(await postgres.createDatabase())
  const url = await asServer(owner.databaseUrl)
  const { create } = await serve({ ...owner, databaseUrl: url })
  expect(await create(1)).toMatchObject({ status: 200 })
  expect(await create(1)).toMatchObject({ status: 200 })
  expect(await create(1, 'Moss')).toMatchObject({ status: 400, body: { error: 40_003 } })
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
  await postgres.query(owner.databaseUrl, `REVOKE INSERT ON plants FROM ${new URL(url).username}`)
  expect((await runAt(url, 'serve')).err).toMatch(
    /permission denied for table plants\. Try: .*GRANT/,
  )
})

test("a server over PostgreSQL needs no file but its own program under Node's permission model", async () => {
  const database = await prepareDatabase(await postgres.createDatabase())
  const root = new URL('../../../../', import.meta.url).pathname
  const net = process.allowedNodeEnvironmentFlags.has('--allow-net')
    ? ['--allow-net', '--disable-warning=ExperimentalWarning']
    : []
  const nodeFlags = ['--permission', `--allow-fs-read=${root}`, ...net]
  const server = await serve(database, { nodeFlags })
  await server.client.createPlant({ id: 1, name: 'Fern' })
  expect(await server.end()).toMatchObject({ code: 0, err: '' })
  expect(await readRows(database.databaseUrl)).toHaveLength(1)
})
