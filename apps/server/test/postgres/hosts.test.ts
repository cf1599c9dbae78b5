import { readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { migratePostgresDatabase } from '../../src/postgres/migrate.ts'
import { openPostgresSnapshot } from '../../src/postgres/snapshot.ts'
import type { Store } from '../../src/store/store.ts'
import { findFreePort } from '../free-port.ts'
import { runToEnd } from '../process/server-process.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { addCertificate } from './certificate.ts'
import { PASSWORD, type PostgresServer, startPostgres, USER } from './postgres-server.ts'
import { openStoreAt } from './use-postgres.ts'

const NAME = 'plants'

const SCRAM = ['--encoding=UTF8', '--locale=C', '--auth=scram-sha-256']

/** Two servers that know nothing of each other, each with a database of the same name. */
let one: PostgresServer
let other: PostgresServer

async function start(): Promise<PostgresServer> {
  const server = await startPostgres(['ssl=on'], { prepare: addCertificate, initdbFlags: SCRAM })
  await server.query(server.urlOf('postgres'), `CREATE DATABASE ${NAME}`)
  await migratePostgresDatabase(server.urlOf(NAME), false)
  return server
}

beforeAll(async () => {
  ;[one, other] = await Promise.all([start(), start()])
}, 60_000)
afterAll(async () => {
  await Promise.all([one?.stop(), other?.stop()])
})

function listOf(hosts: readonly (string | PostgresServer)[], query = '', password = PASSWORD) {
  const list = hosts.map((host) => (typeof host === 'string' ? host : `127.0.0.1:${host.port}`))
  return `postgres://${USER}:${encodeURIComponent(password)}@${list.join(',')}/${NAME}?${query}`
}

let nextId = 1

/** The server on which a store keeps what it is given. */
async function keeperOf(store: Store): Promise<PostgresServer> {
  const id = nextId++
  expect(await store.plants.create({ id: BigInt(id), name: 'Fern' })).toBe('created')
  for (const server of [one, other]) {
    const rows = await server.query(server.urlOf(NAME), 'SELECT FROM plants WHERE id = $1', [id])
    if (rows.length > 0) return server
  }
  throw new Error('nobody has it')
}

async function readOnly(server: PostgresServer): Promise<void> {
  await server.set('default_transaction_read_only', 'on')
  onTestFinished(() => server.set('default_transaction_read_only', 'DEFAULT'))
}

/** A place that takes connections and says nothing; how many it took. */
async function startSilence(): Promise<{ readonly host: string; readonly taken: () => number }> {
  const sockets = new Set<Socket>()
  let taken = 0
  const server = createServer((socket) => {
    taken++
    sockets.add(socket.on('error', () => {}))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, taken: () => taken }
}

describe('of a list of hosts', () => {
  test('the first that answers is used', async () => {
    expect(await keeperOf(await openStoreAt(listOf([one, other])))).toBe(one)
    expect(await keeperOf(await openStoreAt(listOf([other, one])))).toBe(other)
    const nobody = [`127.0.0.1:${await findFreePort()}`, 'nowhere.invalid']
    const url = listOf([...nobody, other], 'sslmode=disable')
    expect(await keeperOf(await openStoreAt(url))).toBe(other)
  })

  test('one that says nothing holds nobody up for long', async () => {
    const silence = await startSilence()
    const begin = performance.now()
    expect(await keeperOf(await openStoreAt(listOf([silence.host, other])))).toBe(other)
    expect(performance.now() - begin).toBeLessThan(1_500)
    expect(silence.taken()).toBe(1)
  })

  test('the first that takes writes is used with target_session_attrs=read-write', async () => {
    await readOnly(one)
    const url = listOf([one, other], 'target_session_attrs=read-write')
    expect(await keeperOf(await openStoreAt(url))).toBe(other)
    await readOnly(other)
    await expect(openStoreAt(url)).rejects.toMatchObject({
      name: 'StoreUnavailableError',
      message: expect.stringMatching(
        new RegExp(`none .* used: 127.0.0.1:${one.port}: it is read-only; .*${other.port}: it is`),
      ),
    })
  })

  test.each(['standby', 'prefer-standby', 'read-only'])(
    'none is written to with target_session_attrs=%s, which may still be read',
    async (target) => {
      await readOnly(one)
      const url = listOf([one, other], `target_session_attrs=${target}`)
      await expect(openStoreAt(url)).rejects.toMatchObject({
        name: 'StoreRefusedError',
        message: expect.stringMatching(/Try: target_session_attrs=read-write/),
      })
      const opened = openPostgresSnapshot(url)
      if (target === 'standby') await expect(opened).rejects.toThrow(/it is a primary/)
      else await (await opened).close()
    },
  )

  test('any may be the first with load_balance_hosts=random', async () => {
    const url = listOf([one, other], 'load_balance_hosts=random')
    const keepers = new Set<PostgresServer>()
    // 2^-30 for an order that is random.
    for (let tries = 0; keepers.size < 2 && tries < 30; tries++) {
      keepers.add(await keeperOf(await openStoreAt(url)))
    }
    expect(keepers.size).toBe(2)
  })

  test('one that refuses the user ends the search, as in libpq', async () => {
    const silence = await startSilence()
    await expect(openStoreAt(listOf([one, silence.host], '', 'wrong'))).rejects.toThrow(
      /password authentication failed.*fix the user or the password/,
    )
    expect(silence.taken()).toBe(0)
  })

  test('one that holds another database is not used in the place of one that is gone', async () => {
    const store = await openStoreAt(listOf([one, other]))
    expect(await keeperOf(store)).toBe(one)
    one.kill()
    onTestFinished(() => one.start())
    const create = () => store.plants.create({ id: BigInt(nextId++), name: 'Fern' })
    const said = async () => String(await create().catch(({ cause }) => cause))
    await expect.poll(said).toMatch(/none .*: it holds another database than the others/)
  })
})

describe('each host of a list', () => {
  test('has its own line in PGPASSFILE', async () => {
    const path = join(temporaryFolder(), 'passwords')
    const line = (host: string, server: PostgresServer, password: string) =>
      `${host}:${server.port}:${NAME}:${USER}:${password}\n`
    await other.query(other.urlOf('postgres'), "CREATE ROLE second SUPERUSER LOGIN PASSWORD 'x'")
    await other.query(
      other.urlOf('postgres'),
      `SET ROLE second; ALTER ROLE ${USER} PASSWORD 'his own'`,
    )
    onTestFinished(async () => {
      const url = other.urlOf('postgres').replace(/\/\/.*@/, '//second:x@')
      await other.query(url, `ALTER ROLE ${USER} PASSWORD '${PASSWORD}'`)
    })
    writeFileSync(
      path,
      line('127.0.0.1', other, 'wrong') + line('second.example', other, 'his own'),
      { mode: 0o600 },
    )
    const list = `127.0.0.1:${await findFreePort()},second.example:${other.port}`
    const ended = await runToEnd({
      folder: temporaryFolder(),
      environment: {
        PLANT_STORE_DATABASE_URL: `postgres://${USER}@${list}/${NAME}?hostaddr=127.0.0.1,127.0.0.1`,
        PGPASSFILE: path,
      },
      args: ['token', 'list'],
    })
    expect(ended).toMatchObject({ code: 0 })
  })

  test('has its own name in its certificate, wherever hostaddr leads', async () => {
    const root = join(temporaryFolder(), 'root.crt')
    writeFileSync(root, readFileSync(join(one.folder, 'server.crt')))
    const query = `sslmode=verify-full&sslrootcert=${root}&hostaddr=127.0.0.1`
    const at = (host: string) => openStoreAt(listOf([`${host}:${one.port}`], query))
    expect(await keeperOf(await at('127.0.0.1'))).toBe(one)
    await expect(at('plants.example')).rejects.toThrow(/certificate|altnames/)
    // Only the second one is of this authority.
    const url = listOf([other, one], `sslmode=verify-full&sslrootcert=${root}`)
    expect(await keeperOf(await openStoreAt(url))).toBe(one)
  })
})
