import { execFileSync } from 'node:child_process'
import { appendFileSync, chownSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import {
  PASSWORD,
  type PostgresServer,
  startPostgres,
  USER,
} from '../../../../test/postgres-server.ts'

const STANDBY = 'standby'

/** Copies what is there; a file that its server removes meanwhile is not needed. */
function copyAll(from: string, to: string): void {
  try {
    execFileSync('cp', ['-a', `${from}/.`, to], { stdio: ['ignore', 'ignore', 'pipe'] })
  } catch (error) {
    const said = String((error as { stderr?: unknown }).stderr).trim()
    if (said.split('\n').some((line) => !line.includes('No such file'))) throw error
  }
}

/**
 * Makes a folder, empty or not there, a standby of a running server: a copy of its folder as a
 * backup of it would be, since pg_basebackup is not there.
 */
async function makeStandby(primary: PostgresServer, folder: string): Promise<void> {
  const client = new pg.Client(primary.urlOf('postgres'))
  await client.connect()
  await client.query("SELECT pg_backup_start('standby', true)")
  const { uid, gid } = statSync(primary.folder)
  execFileSync('mkdir', ['-p', folder])
  copyAll(primary.folder, folder)
  for (const name of ['postmaster.pid', 'postmaster.opts']) {
    rmSync(join(folder, name), { force: true })
  }
  const { rows } = await client.query('SELECT labelfile FROM pg_backup_stop(false)')
  await client.end()
  writeFileSync(join(folder, 'backup_label'), rows[0].labelfile)
  writeFileSync(join(folder, 'standby.signal'), '')
  const at = `host=127.0.0.1 port=${primary.port} application_name=${STANDBY}`
  const settings = [
    `primary_conninfo = '${at} user=${USER} password=''${PASSWORD}'''`,
    // A primary without a standby goes on alone; whoever gives it one makes it wait for that.
    "synchronous_standby_names = ''",
  ]
  appendFileSync(join(folder, 'postgresql.auto.conf'), `${settings.join('\n')}\n`)
  for (const path of ['', ...readdirSync(folder)]) chownSync(join(folder, path), uid, gid)
}

const IS_ATTACHED = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"

/** Makes every commit of the primary wait for its standby; resolves once that is there. */
async function waitForStandby(primary: PostgresServer): Promise<void> {
  await primary.set('synchronous_standby_names', `'${STANDBY}'`)
  while ((await primary.query(primary.urlOf('postgres'), IS_ATTACHED)).length === 0);
}

/** Asks without a pause, because pg_promote itself looks only every 100 ms. */
async function watchPromotion({ query, urlOf }: PostgresServer): Promise<number> {
  const url = urlOf('postgres')
  const promoted = query(url, 'SELECT pg_promote()')
  while ((await query(url, 'SELECT pg_is_in_recovery() AS waits'))[0]?.waits);
  const at = performance.now()
  await promoted
  return at
}

export type Pair = Awaited<ReturnType<typeof startPair>>

/** Starts a primary and its synchronous standby, which change their parts. */
export async function startPair() {
  let primary = await startPostgres()
  let standby = await startPostgres([], (folder) => makeStandby(primary, folder))
  await waitForStandby(primary)
  const hosts = [primary, standby].map(({ port }) => `127.0.0.1:${port}`)
  let isApart = false
  return {
    get primary() {
      return primary
    },
    get standby() {
      return standby
    },
    /** URLs of a database with both servers, in either order; the first primary first. */
    urlsOf(database: string): [string, string] {
      const [, before] = /(.*@)/.exec(primary.urlOf(database)) ?? []
      return [`${before}${hosts}/${database}`, `${before}${hosts.toReversed()}/${database}`]
    },
    /** Makes the standby the primary; the time at which it took writes, as of performance.now(). */
    async promote(): Promise<number> {
      isApart = true
      const at = await watchPromotion(standby)
      ;[primary, standby] = [standby, primary]
      return at
    },
    /** Makes the server that was the primary the standby of the new one. */
    async rejoin(): Promise<void> {
      if (!isApart) return
      standby.kill()
      for (const name of readdirSync(standby.folder)) {
        rmSync(join(standby.folder, name), { recursive: true, maxRetries: 20, retryDelay: 100 })
      }
      await makeStandby(primary, standby.folder)
      await standby.start()
      await waitForStandby(primary)
      isApart = false
    },
    async stop(): Promise<void> {
      await standby.stop()
      await primary.stop()
    },
  }
}
