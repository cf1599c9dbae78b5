import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import { createTestClient } from '../clients.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { MAIN } from './main.ts'

export interface ServerProcessOptions {
  /** Where it runs, and so keeps its data; a new folder by default. */
  readonly folder?: string
  /** The built program; by default that of this package. */
  readonly main?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly args?: readonly string[]
  /** Flags of Node itself. */
  readonly nodeFlags?: readonly string[]
  /** A program, with its arguments, that runs the server: a tracer, a limit. */
  readonly under?: readonly string[]
  /**
   * Gets a function that kills the server and resolves once it has ended; by default the end of the
   * test calls it.
   */
  readonly onStart?: (kill: () => Promise<void>) => void
}

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly out: string
  readonly err: string
}

function spawnServer(options: ServerProcessOptions) {
  const { main = MAIN, args = [], nodeFlags = [], under = [], environment } = options
  const { folder = temporaryFolder(), onStart = onTestFinished } = options
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
  child.stdout.setEncoding('utf8').on('data', (chunk) => (out += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk) => (err += chunk))
  const ended = once(child, 'close').then(([code, signal]): Ended => ({ code, signal, out, err }))
  // Not until its output ends, which a process of its own may hold open.
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve()).once('error', () => resolve())
  })
  onStart(() => {
    child.kill('SIGKILL')
    return exited
  })
  return { child, ended, out: () => out, output: () => err }
}

/** Each line of a text, which must be JSON: a log or an audit file. */
export function logLinesIn(text: string): Record<string, unknown>[] {
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line))
}

type Address = Pick<ServerProcess, 'url' | 'token'>

/** A client that sends each plant once. */
export function clientWithoutRetries({ url: baseUrl, token }: Address) {
  return createTestClient({ baseUrl, token, maxRetries: 0 })
}

/** The body for a plant. */
export function plantText(id: number, name = 'Fern'): string {
  return JSON.stringify({ id, name })
}

/** A request; of a good plant by default. */
export interface Sent {
  readonly body?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends one request with the server's own token. */
export function post({ url, token }: Address, sent: Sent = {}): Promise<Response> {
  const { body = plantText(1), path = '/plants' } = sent
  const authorization = `Bearer ${token}`
  const headers = { authorization, 'content-type': 'application/json', ...sent.headers }
  return fetch(url + path, { method: 'POST', body, headers })
}

/** Creates plants with so many ids from one up, 0 by default, all at once. */
export async function createMany(
  { client }: Pick<ServerProcess, 'client'>,
  count: number,
  { from = 0, name = 'Fern' } = {},
): Promise<void> {
  const ids = Array.from({ length: count }, (_, index) => from + index)
  await Promise.all(ids.map((id) => client.createPlant({ id, name })))
}

/** Sends creates together, each once; 200 or the error of each, undefined where none came. */
export async function statusesOf(
  { client }: Pick<ServerProcess, 'client'>,
  ids: readonly number[],
) {
  const results = await Promise.allSettled(
    ids.map((id) => client.rest.createPlant({ body: { id, name: 'Fern' } })),
  )
  return results.map((result) => {
    if (result.status === 'rejected') return undefined
    const { status, body } = result.value
    return status === 200 ? 200 : (body as { error: number }).error
  })
}

/** Runs the server's program to its end. */
export function runToEnd(options: ServerProcessOptions = {}): Promise<Ended> {
  return spawnServer(options).ended
}

export type ServerProcess = Awaited<ReturnType<typeof startServerProcess>>

/** Starts the server's program and resolves once it listens. */
export async function startServerProcess(
  options: ServerProcessOptions & { readonly token?: string | undefined } = {},
) {
  const { child, ended, out, output } = spawnServer(options)
  /** What it printed once it listened. */
  const greeting = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', () => {
      if (/200 means durable: .*\n/.test(out())) setImmediate(() => resolve(out()))
    })
    void ended.then(({ code, err }) => reject(new Error(`the server ended with ${code}: ${err}`)))
  })
  const url = /listens on (\S+)/.exec(greeting)?.[1] ?? ''
  /** The token of a first run; of an earlier run where `token` was given. */
  const token = options.token ?? /^ {2}(plant_\S+)$/m.exec(greeting)?.[1] ?? ''
  return {
    pid: child.pid ?? 0,
    url,
    greeting,
    port: Number(new URL(url).port),
    operationsUrl: /Health: (\S+)\/livez/.exec(greeting)?.[1] ?? '',
    token,
    client: createTestClient({ baseUrl: url, token }),
    ended,
    kill: (signal: NodeJS.Signals) => void child.kill(signal),
    /** Sends a signal, and resolves when the process has ended. */
    end(signal: NodeJS.Signals = 'SIGTERM') {
      child.kill(signal)
      return ended
    },
    /** What standard error holds so far. */
    output,
    /** Resolves once standard error holds a text this many times. */
    untilLogged: (text: string, times = 1) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (output().split(text).length <= times) return
          child.stderr.off('data', look)
          resolve()
        }
        child.stderr.on('data', look)
        look()
      }),
  }
}
