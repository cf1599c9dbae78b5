import { chownSync, cpSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { PASSWORD, type PostgresServer, startPostgres, USER } from './postgres-server.ts'

/** Copies the folder of a running server as a backup of it would, since pg_basebackup is not there. */
async function copyFolder(primary: PostgresServer, folder: string): Promise<void> {
  const client = new pg.Client(primary.urlOf('postgres'))
  await client.connect()
  await client.query("SELECT pg_backup_start('standby', true)")
  cpSync(primary.folder, folder, {
    recursive: true,
    filter: (path) => !/postmaster\.(?:pid|opts)$/.test(path),
  })
  const { rows } = await client.query('SELECT labelfile FROM pg_backup_stop(false)')
  await client.end()
  writeFileSync(join(folder, 'backup_label'), rows[0].labelfile)
  writeFileSync(join(folder, 'standby.signal'), '')
  const { uid, gid } = statSync(primary.folder)
  chownSync(folder, uid, gid)
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    chownSync(join(folder, path), uid, gid)
  }
}

/** Starts a standby and makes every commit of the primary wait for it. */
export async function startSynchronousStandby(primary: PostgresServer): Promise<PostgresServer> {
  const connection = `host=127.0.0.1 port=${primary.port} user=${USER} password='${PASSWORD}'`
  const standby = await startPostgres(
    [`primary_conninfo=${connection} application_name=standby`, 'hot_standby=on'],
    { makeFolder: (folder) => copyFolder(primary, folder) },
  )
  await primary.set('synchronous_standby_names', "'standby'")
  const isAttached = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"
  while ((await primary.query(primary.urlOf('postgres'), isAttached)).length === 0);
  return standby
}
