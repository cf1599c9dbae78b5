import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { migratePostgresDatabase } from '../../src/postgres/migrations.ts'
import { readPostgresFacts } from '../../src/postgres/store.ts'
import { PASSWORD, type PostgresServer, query, USER } from './postgres-server.ts'
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
  const insert = "INSERT INTO pg_catalog.pg_dist_node VALUES (1, '127.0.0.1', $1, true, 'primary')"
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

/**
 * Lets each statement that inserts into a table, or would insert nothing, use a connection of its
 * session to a node, which Citus makes anew once it is lost.
 */
function useNode(port: number): string {
  return `CREATE FUNCTION use_node() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NOT 'node' = ANY (coalesce(public.dblink_get_connections(), '{}')) THEN
        PERFORM public.dblink_connect('node',
          'host=127.0.0.1 port=${port} dbname=postgres user=${USER} password=''${PASSWORD}''');
      END IF;
      PERFORM FROM public.dblink('node', 'SELECT 1') AS replies (reply int);
      RETURN NULL;
    EXCEPTION WHEN OTHERS THEN
      IF 'node' = ANY (coalesce(public.dblink_get_connections(), '{}')) THEN
        PERFORM public.dblink_disconnect('node');
      END IF;
      RAISE 'connection to the node lost' USING ERRCODE = '08006';
    END $$;
    CREATE TRIGGER use_node BEFORE INSERT ON plants EXECUTE FUNCTION use_node()`
}

test('the first create after a node is back leaves no connection by which a check would fail', async () => {
  const url = await newDatabase(coordinator)
  await addNode(url, node)
  await coordinator.query(url, useNode(node.port))
  const store = await openStoreAt(url)
  // On each connection of the store.
  const checks = () => Promise.all(Array.from({ length: 6 }, () => store.isReady().catch(String)))
  const isReady = Array(6).fill(true)
  expect(await checks()).toEqual(isReady)
  node.kill()
  await node.start()
  expect(await store.plants.create({ id: 1n, name: 'Fern' })).toBe('created')
  expect(await checks()).toEqual(isReady)
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
