import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { needs } from '../../../../packages/client/runtimes/needs.ts'
import { findFreePort } from '../free-port.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { PASSWORD, type PostgresServer, USER } from './postgres-server.ts'

// Debian keeps it where only root's PATH leads.
const env = { PATH: `${process.env.PATH}:/usr/sbin` }

export const needsPgBouncer = needs(
  'pgbouncer',
  spawnSync('pgbouncer', ['--version'], { env }).status === 0,
)

export type PoolMode = 'session' | 'transaction' | 'statement'

/** A pooler before a PostgreSQL, which ends with the test. */
export interface PgBouncer {
  /** The same database through the pooler. */
  through(databaseUrl: string): string
  /** Starts it again, at the same port, in another mode. */
  changeTo(mode: PoolMode): Promise<void>
}

/** Starts a PgBouncer as its documentation does, in a mode. */
export async function startPgBouncer(postgres: PostgresServer, mode: PoolMode): Promise<PgBouncer> {
  const folder = temporaryFolder()
  chmodSync(folder, 0o755)
  const port = await findFreePort()
  const path = join(folder, 'pgbouncer.ini')
  let stop = async () => {}

  async function start(poolMode: PoolMode): Promise<void> {
    const lines = [
      '[databases]',
      `* = host=127.0.0.1 port=${postgres.port} user=${USER} password='${PASSWORD}'`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = any',
      `pool_mode = ${poolMode}`,
    ]
    writeFileSync(path, `${lines.join('\n')}\n`)
    // It does not run as root.
    const flags = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
    const child = spawn('pgbouncer', [...flags, path], { env, stdio: ['ignore', 'ignore', 'pipe'] })
    const ended = once(child, 'exit')
    stop = async () => {
      child.kill('SIGKILL')
      await ended
    }
    let said = ''
    while (!said.includes('process up')) {
      const [chunk] = await Promise.race([once(child.stderr, 'data'), ended])
      if (child.exitCode !== null) throw new Error(`pgbouncer ended: ${said}`)
      said += chunk
    }
    child.stderr.resume()
  }

  await start(mode)
  onTestFinished(() => stop())
  return {
    through: (databaseUrl) => databaseUrl.replace(`:${postgres.port}`, `:${port}`),
    async changeTo(poolMode) {
      await stop()
      await start(poolMode)
    },
  }
}
