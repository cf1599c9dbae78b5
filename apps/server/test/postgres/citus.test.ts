import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { migratePostgresDatabase } from '../../src/postgres/migrations.ts'
import { openPostgresStore } from '../../src/postgres/store.ts'
import { addNode } from './nodes.ts'
import { newDatabase, openStoreAt, usePostgres } from './use-postgres.ts'

const coordinator = usePostgres()
const node = usePostgres()
let databaseUrl: string

beforeAll(async () => {
  databaseUrl = await newDatabase(coordinator)
  await addNode(databaseUrl, node)
})

describe('a node that could lose what was answered', () => {
  test.each(['fsync', 'full_page_writes', 'synchronous_commit'])(
    'by %s = off is named, unless data may be lost',
    async (name) => {
      onTestFinished(() => node.set(name, 'DEFAULT'))
      await node.set(name, 'off')
      await expect(openStoreAt(databaseUrl)).rejects.toMatchObject({
        name: 'StoreRefusedError',
        message: expect.stringContaining(`the node 127.0.0.1:${node.port} of the database`),
      })
      const risky = await openPostgresStore({ databaseUrl, allowDataLoss: true })
      onTestFinished(() => risky.close())
      expect(await risky.isReady()).toBe(true)
    },
  )

  test('is found by the next connection, and from then on no create is answered 200', async () => {
    const store = await openStoreAt(databaseUrl)
    const create = (id: bigint) => store.plants.create({ id, name: 'Moss' })
    expect(await create(2n)).toBe('created')
    onTestFinished(() => node.set('fsync', 'DEFAULT'))
    await node.set('fsync', 'off')
    const endSessions = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = 'plant-store' AND datname = current_database()`
    await coordinator.query(databaseUrl, endSessions)
    const outcome = () => create(3n).catch(({ name, message }) => `${name}: ${message}`)
    const refusal = `StoreUnavailableError: the node 127.0.0.1:${node.port}`
    await expect.poll(outcome).toMatch(refusal)
    await expect(store.isReady()).rejects.toThrow(`the node 127.0.0.1:${node.port}`)
    await node.set('fsync', 'DEFAULT')
    await expect.poll(outcome).toMatch(/^(?:created|already_there)$/)
  })

  test('that is lost is named, until it is back', async () => {
    node.kill()
    await expect(openStoreAt(databaseUrl)).rejects.toMatchObject({
      name: 'StoreUnavailableError',
      detail: expect.stringContaining(`the node 127.0.0.1:${node.port} fails`),
    })
    await node.start()
    expect(await (await openStoreAt(databaseUrl)).isReady()).toBe(true)
  })
})

test('an internal error, as a lost node gives it, is no proof that nothing was stored', async () => {
  const url = await newDatabase(coordinator)
  const store = await openStoreAt(url)
  await coordinator.query(
    url,
    `CREATE SEQUENCE errors;
    CREATE FUNCTION fail_once() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF nextval('public.errors') = 1 THEN RAISE 'lost' USING ERRCODE = 'XX000'; END IF;
      RETURN new;
    END $$;
    CREATE TRIGGER fail_once BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION fail_once()`,
  )
  expect(await store.plants.create({ id: 1n, name: 'Fern' })).toBe('created')
})

test('a database without a command to distribute refuses --distributed, with what to do', async () => {
  await expect(migratePostgresDatabase(databaseUrl, false, true)).rejects.toMatchObject({
    name: 'StoreRefusedError',
    fix: expect.stringContaining('without --distributed'),
  })
})
