import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { createOpaqueToken } from '../../src/auth/tokens.ts'
import { findFreePort } from '../free-port.ts'
import type { PostgresServer } from '../postgres/postgres-server.ts'
import { serveNewDatabase } from '../postgres/served-database.ts'
import { openSession } from '../postgres/sessions.ts'
import {
  plantText,
  post,
  runToEnd,
  type ServerProcess,
  type ServerProcessOptions,
  startServerProcess,
} from '../process/server-process.ts'
import { mountSmallDisk } from '../process/small-disk.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import type { Target } from './prometheus-server.ts'
import { readSamples } from './scraped-server.ts'

/** A server, and what goes wrong with it. */
export interface Condition extends Omit<Target, 'address'> {
  readonly server: ServerProcess
  /** The alerts that it must cause. */
  readonly alerts: readonly string[]
  /** Whether it is there before it is provoked. */
  readonly isThereFirst?: boolean
  /** Makes it so, until the end of the test. */
  provoke(until: AbortSignal): Promise<unknown>
}

/** Does something again and again, whatever comes of it. */
async function repeat(until: AbortSignal, pauseMs: number, work: () => Promise<unknown>) {
  while (!until.aborted) {
    await work().catch(() => {})
    await sleep(pauseMs)
  }
}

/** Sends plants on several connections, each the next one after its reply. */
function keepPosting(
  until: AbortSignal,
  server: ServerProcess,
  lanes = 1,
  pauseMs = 20,
  onStatus = (_status: number) => {},
) {
  let id = 0
  async function work() {
    const reply = await post(server, { body: plantText(++id) })
    onStatus(reply.status)
    await reply.text()
  }
  return Promise.all(Array.from({ length: lanes }, () => repeat(until, pauseMs, work)))
}

function start(options: ServerProcessOptions & { readonly token?: string } = {}) {
  const environment = { PLANT_STORE_LOG_LEVEL: 'silent', ...options.environment }
  return startServerProcess({ ...options, environment })
}

/** A folder for a server that starts several times, each time at the same address for Prometheus. */
async function startAgainAndAgain() {
  const folder = temporaryFolder()
  const environment = { PLANT_STORE_OPERATIONS_LISTEN: `127.0.0.1:${await findFreePort()}` }
  const first = await start({ folder, environment })
  return {
    first,
    path: join(folder, 'data/plants.db'),
    next: () => start({ folder, environment, token: first.token }),
  }
}

/** Runs hold-database.ts on a server's file until the end of the test. */
function holdDatabase(folder: string, how: 'lock' | 'slow'): void {
  const program = join(import.meta.dirname, 'hold-database.ts')
  const args = [program, join(folder, 'data/plants.db'), how]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  const ended = once(child, 'close')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
}

async function gone(): Promise<Condition> {
  const server = await start()
  return {
    server,
    alerts: ['PlantStoreDown'],
    provoke: () => server.end('SIGKILL'),
  }
}

async function draining(): Promise<Condition> {
  const server = await start({ environment: { PLANT_STORE_SHUTDOWN_DELAY_MS: '60000' } })
  return {
    server,
    alerts: ['PlantStoreNotReady'],
    provoke: async () => server.kill('SIGTERM'),
  }
}

async function killedAgainAndAgain(): Promise<Condition> {
  const { first, next } = await startAgainAndAgain()
  return {
    server: first,
    alerts: ['PlantStoreRestarting'],
    async provoke(until) {
      for (let server = first; !until.aborted; server = await next()) {
        // As long as a scrape must come.
        await sleep(1_500)
        await server.end('SIGKILL')
      }
    },
  }
}

async function slow(): Promise<Condition> {
  const folder = temporaryFolder()
  const server = await start({ folder })
  return {
    server,
    job: 'slow',
    alerts: ['PlantStoreCommitsSlow', 'PlantStoreLogGrows'],
    async provoke(until) {
      await post(server)
      holdDatabase(folder, 'slow')
      await keepPosting(until, server, 3)
    },
  }
}

const BYTES_A_STEP = 200 * 1024

async function fullDisk(): Promise<Condition> {
  const { folder, under, fill } = await mountSmallDisk(64)
  const environment = { PLANT_STORE_DATABASE_URL: `sqlite:${folder}/plants.db` }
  const server = await start({ under, environment })
  return {
    server,
    alerts: ['PlantStoreDiskFull', 'PlantStoreDiskFilling'],
    provoke: (until) => repeat(until, 200, async () => fill(BYTES_A_STEP)),
  }
}

async function withAnOldBackup(): Promise<Condition> {
  const folder = temporaryFolder()
  const server = await start({ folder })
  return {
    server,
    alerts: ['PlantStoreBackupOld'],
    provoke: () => runToEnd({ folder, args: ['backup', 'backup.db'] }),
  }
}

async function withATokenThatEnds(): Promise<Condition> {
  const folder = temporaryFolder()
  const args = ['token', 'create', '--name', 'greenhouse', '--expires', '60h']
  const { out: token } = await runToEnd({ folder, args })
  return {
    server: await start({ folder, token: token.trim() }),
    job: 'tokens',
    alerts: ['PlantStoreTokenEnds', 'PlantStoreTokenEndsNow'],
    isThereFirst: true,
    provoke: async () => {},
  }
}

async function withoutConnections(postgres: PostgresServer): Promise<Condition> {
  const { server, database } = await serveNewDatabase(postgres)
  return {
    server,
    job: 'pool',
    // A scrape waits for a connection, too.
    seconds: 4,
    alerts: ['PlantStorePoolExhausted'],
    async provoke(until) {
      const session = await openSession(database.databaseUrl)
      await session.query('BEGIN; LOCK TABLE tokens')
      const strangers = Array.from({ length: 30 }, () =>
        repeat(until, 0, () => post({ ...server, token: createOpaqueToken().text })),
      )
      await Promise.all(strangers)
    },
  }
}

const FILES = 64

/** Something takes the processor from it, and it has few file descriptors. */
async function starved(): Promise<Condition> {
  const block = 'setInterval(() => { for (const t = Date.now() + 300; Date.now() < t; ); }, 600)'
  const server = await start({
    nodeFlags: ['--import', `data:text/javascript,${encodeURIComponent(block)}`],
    under: ['sh', '-c', `ulimit -n ${FILES} && exec "$@"`, 'sh'],
    environment: {
      PLANT_STORE_REQUEST_TIMEOUT_MS: '600000',
    },
  })
  return {
    server,
    // A scrape waits for its turns, too.
    seconds: 4,
    alerts: ['PlantStoreEventLoopBlocked', 'PlantStoreFileDescriptorsLow'],
    async provoke() {
      const text = await (await fetch(`${server.operationsUrl}/metrics`)).text()
      const open = readSamples(text).get('process_open_fds') ?? 0
      for (let next = open; next < 0.9 * FILES; next++) {
        const socket = connect(server.port, '127.0.0.1').on('error', () => {})
        onTestFinished(() => void socket.destroy())
      }
    },
  }
}

async function withoutIssuer(): Promise<Condition> {
  const jwt = ['{"alg":"ES256","kid":"1"}', '{}', 'x'].map((part) =>
    Buffer.from(part).toString('base64url'),
  )
  const server = await start({
    token: jwt.join('.'),
    environment: {
      PLANT_STORE_JWKS_URL: `http://127.0.0.1:${await findFreePort()}/keys`,
      PLANT_STORE_JWT_ISSUER: 'https://issuer.test/',
      PLANT_STORE_JWT_AUDIENCE: 'plants',
    },
  })
  return {
    server,
    job: 'issuer',
    alerts: ['PlantStoreErrors', 'PlantStoreIssuerKeysUnavailable'],
    provoke: (until) => keepPosting(until, server, 1, 500),
  }
}

/** How long the good caller is there. */
const GOOD_MS = 10_000

async function broken(): Promise<Condition> {
  const server = await start({ environment: { PLANT_STORE_FAILED_CREDENTIAL_LIMIT: 'off' } })
  return {
    server,
    job: 'callers',
    alerts: ['PlantStoreRefusals', 'PlantStoreTokensRefused', 'PlantStoreNoCreates'],
    async provoke(until) {
      const notPlants = Array.from({ length: 8 }, () => ({ ...server, body: '{"id":"x"}' }))
      const strangers = Array.from({ length: 4 }, () => ({ ...server, token: 'x', body: '{}' }))
      await Promise.all([
        keepPosting(AbortSignal.any([until, AbortSignal.timeout(GOOD_MS)]), server, 1, 500),
        repeat(until, 500, () =>
          Promise.all([...notPlants, ...strangers].map(({ body, ...one }) => post(one, { body }))),
        ),
      ])
    },
  }
}

async function healthy(): Promise<Condition> {
  const server = await start()
  return { server, alerts: [], provoke: (until) => keepPosting(until, server, 2) }
}

/** One server for each condition; the first is healthy and under load. */
export function arrangeConditions(postgres: PostgresServer): Promise<Condition[]> {
  const all = [
    gone,
    draining,
    killedAgainAndAgain,
    slow,
    fullDisk,
    withAnOldBackup,
    withATokenThatEnds,
    starved,
    withoutIssuer,
    broken,
  ]
  return Promise.all([healthy(), withoutConnections(postgres), ...all.map((one) => one())])
}
