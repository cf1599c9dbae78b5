import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { findFreePort } from '../free-port.ts'
import { createCluster } from './embedded-postgres.ts'

export const USER = 'plant_store'
export const PASSWORD = 'correct horse'

/** How long the backends of a postmaster that was killed may take to end. */
const BACKENDS_LIMIT_MS = 20_000

/** A real PostgreSQL with a data folder of its own, for the tests of one file. */
export interface PostgresServer {
  readonly port: number
  readonly folder: string
  /** The pid of the postmaster. */
  pid(): number
  /** The URL of a database, as the superuser. */
  urlOf(database: string): string
  /** A new, empty database; its URL. `options` are those of CREATE DATABASE. */
  createDatabase(options?: string): Promise<string>
  /** Runs a statement as the superuser, past the store. */
  query(databaseUrl: string, text: string, values?: unknown[]): Promise<Record<string, unknown>[]>
  /** Changes a setting for every session, those that are open included; DEFAULT takes it back. */
  set(name: string, value: string): Promise<void>
  /** Ends the postmaster as a crash of the machine's process would. */
  kill(): void
  start(): Promise<void>
  /** Ends it in order; its folder goes with it unless it is to be started again. */
  stop(options?: { readonly keepFolder?: boolean }): Promise<void>
}

interface PostgresOptions {
  readonly initdbFlags?: readonly string[]
  /** Makes the data folder where initdb is not to. */
  readonly makeFolder?: (folder: string) => Promise<void>
  /** Adds to the data folder before the first start. */
  readonly prepare?: (folder: string) => void
}

export async function query(url: string, text: string, values: unknown[] = []) {
  const client = new pg.Client(url)
  // A server that goes away meanwhile fails the query; the event says nothing more.
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(text, values)).rows
  } finally {
    await client.end()
  }
}

/** Starts a PostgreSQL; `settings` are for its command line, such as `fsync=off`. */
export async function startPostgres(
  settings: readonly string[] = [],
  { initdbFlags = ['--encoding=UTF8', '--locale=C'], makeFolder, prepare }: PostgresOptions = {},
): Promise<PostgresServer> {
  const parent = mkdtempSync(join(tmpdir(), 'plant-store-postgres-'))
  // PostgreSQL runs as a user of its own where the tests run as root.
  chmodSync(parent, 0o755)
  const folder = join(parent, 'data')
  const port = await findFreePort()
  const urlOf = (database: string) =>
    `postgres://${USER}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/${database}`
  const cluster = createCluster({
    folder,
    port,
    user: USER,
    password: PASSWORD,
    initdbFlags,
    settings: ['max_connections=60', 'shared_buffers=32MB', ...settings],
  })
  // Those of a postmaster that was killed may still write into it for a moment.
  const deleteFolder = () =>
    rmSync(parent, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  let isKilled = false

  async function start(): Promise<void> {
    const deadline = performance.now() + BACKENDS_LIMIT_MS
    for (;;) {
      try {
        await cluster.start()
        isKilled = false
        return
      } catch (error) {
        // After a kill its backends end by themselves a moment later, and until then it cannot start.
        if (!isKilled || performance.now() > deadline) throw error
      }
    }
  }

  function kill(): void {
    process.kill(cluster.pid(), 'SIGKILL')
    isKilled = true
  }

  try {
    await (makeFolder ? makeFolder(folder) : cluster.initialise())
    prepare?.(folder)
    await start()
  } catch (error) {
    deleteFolder()
    throw error
  }

  return {
    port,
    folder,
    pid: cluster.pid,
    urlOf,
    query,
    start,
    kill,
    async createDatabase(options = '') {
      const name = `test_${randomBytes(6).toString('hex')}`
      await query(urlOf('postgres'), `CREATE DATABASE ${name} ${options}`)
      return urlOf(name)
    },
    async set(name, value) {
      const url = urlOf('postgres')
      await query(url, `ALTER SYSTEM SET ${name} = ${value}`)
      const [before] = await query(
        url,
        'SELECT pg_conf_load_time()::text AS time, pg_reload_conf()',
      )
      const isLoaded = 'SELECT pg_conf_load_time() > $1::timestamptz AS is_loaded'
      while (!(await query(url, isLoaded, [before?.time]))[0]?.is_loaded);
    },
    async stop({ keepFolder = false } = {}) {
      // What is thrown away needs no last checkpoint.
      await cluster.end(keepFolder ? 'SIGINT' : 'SIGQUIT')
      if (!keepFolder) deleteFolder()
    },
  }
}
