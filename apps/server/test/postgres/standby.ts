import { execFileSync } from 'node:child_process'
import { appendFileSync, chownSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { PASSWORD, type PostgresServer, startPostgres, USER } from './postgres-server.ts'

const STANDBY = 'standby'

/** How a standby reaches its primary. */
function connectionTo({ port }: PostgresServer): string {
  return `host=127.0.0.1 port=${port} user=${USER} password='${PASSWORD}' application_name=${STANDBY}`
}

/** Copies what is there; a file that its server removes meanwhile is not needed. */
function copyAll(from: string, to: string): void {
  try {
    execFileSync('cp', ['-a', `${from}/.`, to], { stdio: ['ignore', 'ignore', 'pipe'] })
  } catch (error) {
    const said = String((error as { stderr?: unknown }).stderr)
      .trim()
      .split('\n')
    if (said.some((line) => !line.includes('No such file'))) throw error
  }
}

/**
 * Makes a folder, empty or not there, a standby of a running server: a copy of its folder as a
 * backup of it would be, since pg_basebackup is not there.
 */
export async function makeStandby(primary: PostgresServer, folder: string): Promise<void> {
  const client = new pg.Client(primary.urlOf('postgres'))
  await client.connect()
  await client.query("SELECT pg_backup_start('standby', true)")
  const { uid, gid } = statSync(primary.folder)
  execFileSync('mkdir', ['-p', folder])
  copyAll(primary.folder, folder)
  for (const name of ['postmaster.pid', 'postmaster.opts'])
    rmSync(join(folder, name), { force: true })
  const { rows } = await client.query('SELECT labelfile FROM pg_backup_stop(false)')
  await client.end()
  writeFileSync(join(folder, 'backup_label'), rows[0].labelfile)
  writeFileSync(join(folder, 'standby.signal'), '')
  const settings = [
    `primary_conninfo = '${connectionTo(primary).replaceAll("'", "''")}'`,
    // A primary without a standby goes on alone; whoever gives it one makes it wait for that.
    "synchronous_standby_names = ''",
  ]
  appendFileSync(join(folder, 'postgresql.auto.conf'), `${settings.join('\n')}\n`)
  for (const path of ['', ...readdirSync(folder)]) chownSync(join(folder, path), uid, gid)
}

const IS_ATTACHED = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"

/** Makes every commit of the primary wait for its standby; resolves once that is there. */
export async function waitForStandby(primary: PostgresServer): Promise<void> {
  await primary.set('synchronous_standby_names', `'${STANDBY}'`)
  while ((await primary.query(primary.urlOf('postgres'), IS_ATTACHED)).length === 0);
}

/** Starts a standby and makes every commit of the primary wait for it. */
export async function startSynchronousStandby(primary: PostgresServer): Promise<PostgresServer> {
  const standby = await startPostgres([], (folder) => makeStandby(primary, folder))
  await waitForStandby(primary)
  return standby
}
