import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createPlantStoreClient, type PlantStoreClient } from '@plant-store/client'
import { onTestFinished } from 'vitest'

const MAIN = join(import.meta.dirname, '../../dist/main.js')

export interface ServerProcessOptions {
  /** Where it runs, and so keeps its data. */
  readonly folder: string
  /** The built program; by default that of this package. */
  readonly main?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly args?: readonly string[]
  /** Flags of Node itself. */
  readonly nodeFlags?: readonly string[]
  /** A program, with its arguments, that runs the server: a tracer, a limit. */
  readonly under?: readonly string[]
  /** Is given what ends it by force: with the test, unless it is told otherwise. */
  readonly onStart?: (kill: () => void) => void
}

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly out: string
  readonly err: string
}

function spawnServer(options: ServerProcessOptions): {
  child: ChildProcess
  ended: Promise<Ended>
  /** What standard error holds so far. */
  told: () => string
} {
  const { folder, main = MAIN, environment = {}, args = [], nodeFlags = [], under = [] } = options
  const { onStart = onTestFinished } = options
  const [program = '', ...rest] = [...under, process.execPath, ...nodeFlags, main, ...args]
  const child = spawn(program, rest, {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      PLANT_STORE_LISTEN: '127.0.0.1:0',
      PLANT_STORE_OPERATIONS_LISTEN: '127.0.0.1:0',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let out = ''
  let err = ''
  child.stdout?.setEncoding('utf8').on('data', (chunk) => (out += chunk))
  child.stderr?.setEncoding('utf8').on('data', (chunk) => (err += chunk))
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, out, err }))
  onStart(() => void child.kill('SIGKILL'))
  return { child, ended, told: () => err }
}

/** Runs the server's program to its end. */
export function runToEnd(options: ServerProcessOptions): Promise<Ended> {
  return spawnServer(options).ended
}

export interface ServerProcess {
  readonly pid: number
  readonly url: string
  readonly operationsUrl: string
  /** The token of a first run; of an earlier run where `token` was given. */
  readonly token: string
  readonly client: PlantStoreClient
  readonly ended: Promise<Ended>
  kill(signal: NodeJS.Signals): void
  /** What standard error holds so far. */
  told(): string
  /** Resolves once standard error holds a text so many times. */
  untilLogged(text: string, times?: number): Promise<void>
}

function waitForGreeting(child: ChildProcess, ended: Promise<Ended>): Promise<string> {
  return new Promise((resolve, reject) => {
    let greeting = ''
    child.stdout?.on('data', (chunk) => {
      greeting += chunk
      if (/200 means durable: .*\n/.test(greeting)) setImmediate(() => resolve(greeting))
    })
    ended.then(({ code, err }) => reject(new Error(`the server ended with ${code}: ${err}`)))
  })
}

/** Starts the server's program and resolves once it listens. */
export async function startServerProcess(
  options: ServerProcessOptions & { readonly token?: string },
): Promise<ServerProcess> {
  const { child, ended, told } = spawnServer(options)
  const greeting = await waitForGreeting(child, ended)
  const url = /listens on (\S+)/.exec(greeting)?.[1] ?? ''
  const token = options.token ?? /^ {2}(plant_\S+)$/m.exec(greeting)?.[1] ?? ''
  return {
    pid: child.pid ?? 0,
    url,
    operationsUrl: /Health: (\S+)\/livez/.exec(greeting)?.[1] ?? '',
    token,
    client: createPlantStoreClient({ baseUrl: url, token }),
    ended,
    kill: (signal) => void child.kill(signal),
    told,
    untilLogged: (text, times = 1) =>
      new Promise((resolve) => {
        const look = () => {
          if (told().split(text).length <= times) return
          child.stderr?.off('data', look)
          resolve()
        }
        child.stderr?.on('data', look)
        look()
      }),
  }
}
