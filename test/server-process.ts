import { setImmediate } from 'node:timers/promises'
import {
  createPlantStoreClient,
  type PlantStoreClient,
  type PlantStoreClientOptions,
} from '@plant-store/client'
import { createRestClient, type RestClient } from '@plant-store/client/rest'
import { onTestFinished } from 'vitest'
import { type Ended, MAIN, type ProgramOptions, startProgram } from './start-program.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** A client of the server under test; `rest` sends each plant once and gives every status. */
export interface TestClient extends PlantStoreClient {
  readonly rest: RestClient
}

export function createTestClient(options: PlantStoreClientOptions): TestClient {
  const rest = createRestClient({ ...options, maxRetries: 0 })
  return { ...createPlantStoreClient(options), rest }
}

export interface ServerProcessOptions extends Pick<ProgramOptions, 'onEnd'> {
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
}

function spawnServer(options: ServerProcessOptions) {
  const { main = MAIN, args = [], nodeFlags = [], under = [], environment } = options
  const { onEnd = onTestFinished, folder: cwd = temporaryFolder(onEnd) } = options
  const env = {
    PATH: process.env.PATH,
    PLANT_STORE_LISTEN: '127.0.0.1:0',
    PLANT_STORE_OPERATIONS_LISTEN: '127.0.0.1:0',
    ...environment,
  }
  const words = [...under, process.execPath, ...nodeFlags, main, ...args]
  return startProgram(words, { cwd, env, onEnd })
}

/** Each line of a text, which must be JSON: a log or an audit file. */
export function logLinesIn(text: string): Record<string, unknown>[] {
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line))
}

type Address = Pick<ServerProcess, 'url' | 'token'>

/** A client that sends each plant once. */
export function clientWithoutRetries({ url: baseUrl, token }: Address) {
  return createTestClient({ baseUrl, token, maxRetries: 0, timeoutMs: 30_000 })
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
export async function startServerProcess({
  token: known,
  ...options
}: ServerProcessOptions & { readonly token?: string | undefined } = {}) {
  const { pid, texts, ended, kill, until } = spawnServer(options)
  await until(() => /200 means durable: .*\n/.test(texts.out))
  await setImmediate()
  /** What it printed once it listened. */
  const greeting = texts.out
  const url = /listens on (\S+)/.exec(greeting)?.[1] ?? ''
  /** The token of a first run; of an earlier run where `token` was given. */
  const token = known ?? /^ {2}(plant_\S+)$/m.exec(greeting)?.[1] ?? ''
  return {
    pid,
    url,
    greeting,
    port: Number(new URL(url).port),
    operationsUrl: /Health: (\S+)\/livez/.exec(greeting)?.[1] ?? '',
    token,
    client: createTestClient({ baseUrl: url, token }),
    ended,
    /** Sends a signal. */
    kill: (signal: NodeJS.Signals) => void kill(signal),
    /** Sends a signal, and resolves when the process has ended. */
    end(signal: NodeJS.Signals = 'SIGTERM') {
      void kill(signal)
      return ended
    },
    /** What standard error holds so far. */
    output: () => texts.err,
    /** Resolves once standard error holds a text this many times. */
    untilLogged: (text: string, times = 1) => until(() => texts.err.split(text).length > times),
  }
}
