import pg from 'pg'
import { hasNodes } from '../../src/postgres/nodes.ts'
import { givenUrl } from './given-postgres.ts'
import { PASSWORD, type PostgresServer, query, USER } from './postgres-server.ts'

/** Whether the tests have nodes: a stand-in of their own, or those of the given database. */
export async function haveNodes(): Promise<boolean> {
  if (givenUrl === undefined) return true
  const session = new pg.Client(givenUrl)
  await session.connect()
  return hasNodes(session).finally(() => session.end())
}

/** A node of a database, past the store. */
export interface Node {
  /** As the store names it. */
  readonly name: string
  /** Changes a setting for every session of the node; DEFAULT takes it back. */
  set(name: string, value: string): Promise<void>
}

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
export async function addNode(databaseUrl: string, { port }: PostgresServer): Promise<void> {
  await query(databaseUrl, STAND_IN)
  const insert = "INSERT INTO pg_catalog.pg_dist_node VALUES (1, '127.0.0.1', $1, true, 'primary')"
  await query(databaseUrl, insert, [port])
}

async function setAt(url: string, name: string, value: string): Promise<void> {
  const session = new pg.Client(url)
  await session.connect()
  await session.query(`ALTER SYSTEM SET ${name} = ${value}`)
  const { rows } = await session.query('SELECT now()::text AS before, pg_reload_conf()')
  const isLoaded = 'SELECT pg_conf_load_time() > $1::timestamptz AS "isLoaded"'
  while (!(await session.query(isLoaded, [rows[0].before])).rows[0].isLoaded);
  await session.end()
}

/** The last node of a database. */
export async function findNode(databaseUrl: string): Promise<Node> {
  const last = 'SELECT nodename, nodeport FROM pg_dist_node ORDER BY groupid DESC LIMIT 1'
  const [row] = await query(databaseUrl, last)
  const name = `${row?.nodename}:${row?.nodeport}`
  const url = Object.assign(new URL(databaseUrl), { host: name, search: '' })
  if (givenUrl === undefined) url.pathname = 'postgres'
  return { name, set: (setting, value) => setAt(url.href, setting, value) }
}
