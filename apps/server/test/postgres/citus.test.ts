import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { PASSWORD, type PostgresServer, query, USER } from '../../../../test/postgres-server.ts'
import { migratePostgresDatabase } from '../../src/postgres/migrations.ts'
import { readPostgresFacts } from '../../src/postgres/store.ts'
import { END_STORE_SESSIONS, newDatabase, openStoreAt, usePostgres } from './use-postgres.ts'

/**
 * What the store asks of a database with nodes, over a real second server: Citus cannot be had from
 * any registry. The list of nodes and the function have Citus's names and columns.
 */
const STAND_IN = `CREATE EXTENSION dblink SCHEMA public;
  SET allow_system_table_mods = on;
  CREATE TABLE pg_catalog.pg_dist_node
    (groupid int, nodename text, nodeport int, isactive boolean, noderole text);
  CREATE FUNCTION pg_catalog.master_run_on_worker(
    worker_name text[], port int[], command text[], parallel boolean,
    OUT node_name text, OUT node_port int, OUT success boolean, OUT result text
  ) RETURNS SETOF record LANGUAGE plpgsql AS $$
  BEGIN
    node_name := worker_name[1];
    node_port := port[1];
    SELECT reply INTO result FROM public.dblink(
      format('host=%s port=%s dbname=postgres user=${USER} password=''${PASSWORD}''', node_name, node_port),
      command[1]
    ) AS replies (reply text);
    success := true;
    RETURN NEXT;
  EXCEPTION WHEN OTHERS THEN
    success := false;
    result := SQLERRM;
    RETURN NEXT;
  END $$`

/** Makes a server a node of a database. */
async function addNode(databaseUrl: string, { port }: PostgresServer): Promise<void> {
  await query(databaseUrl, STAND_IN)
  const insert = `INSERT INTO pg_catalog.pg_dist_node VALUES
    (0, 'the.coordinator.invalid', 5432, true, 'primary'), (1, '127.0.0.1', $1, true, 'primary')`
  await query(databaseUrl, insert, [port])
}

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
      expect(await (await openStoreAt(databaseUrl, true)).isReady()).toBe(true)
    },
  )

  test('is found by the next connection, and from then on no create is answered 200', async () => {
    const store = await openStoreAt(databaseUrl)
    const create = (id: bigint) => store.plants.create({ id, name: 'Moss' })
    expect(await create(2n)).toBe('created')
    onTestFinished(() => node.set('fsync', 'DEFAULT'))
    await node.set('fsync', 'off')
    await coordinator.query(databaseUrl, END_STORE_SESSIONS)
    const outcome = () => create(3n).catch(({ name, message }) => `${name}: ${message}`)
    const refusal = `StoreUnavailableError: the node 127.0.0.1:${node.port}`
    await expect.poll(outcome).toMatch(refusal)
    await expect(store.isReady()).rejects.toThrow(`the node 127.0.0.1:${node.port}`)
    await node.set('fsync', 'DEFAULT')
    await expect.poll(outcome).toMatch(/^(?:created|already_there)$/)
  })

  test('that is lost is named, until it is back: with the first create the store is ready', async () => {
    const store = await openStoreAt(databaseUrl)
    node.kill()
    await coordinator.query(databaseUrl, END_STORE_SESSIONS)
    const fault = expect.stringContaining(`the node 127.0.0.1:${node.port} fails`)
    await expect(openStoreAt(databaseUrl)).rejects.toMatchObject({ detail: fault })
    await expect(store.isReady()).rejects.toMatchObject({ message: fault })
    await node.start()
    expect(await store.plants.create({ id: 4n, name: 'Oak' })).toBe('created')
    expect(await store.isReady()).toBe(true)
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

test('doctor says of each server of the database whether it has a standby', async () => {
  const { facts } = await readPostgresFacts(databaseUrl, { allowDataLoss: false })
  const standbys = facts.flatMap(({ name, value }) => (name === 'standby' ? value : []))
  expect(standbys).toEqual(['coordinator: none', `127.0.0.1:${node.port}: none`])
})

test('a database without a command to distribute refuses --distributed, with what to do', async () => {
  await expect(migratePostgresDatabase(databaseUrl, false, true)).rejects.toMatchObject({
    name: 'StoreRefusedError',
    fix: expect.stringContaining('without --distributed'),
  })
})
