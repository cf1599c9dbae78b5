import { PASSWORD, type PostgresServer, query, USER } from './postgres-server.ts'

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
