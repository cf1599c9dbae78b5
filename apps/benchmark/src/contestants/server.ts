import type { NewPlant } from '@plant-store/contract'
import '@plant-store/server/process/without-proto.js'
import { createAuthenticate } from '@plant-store/server/auth/authenticate.js'
import { createOpaqueToken } from '@plant-store/server/auth/opaque-token.js'
import { openPostgresStore } from '@plant-store/server/engines/postgres/postgres.js'
import { openSqliteStore } from '@plant-store/server/engines/sqlite/sqlite.js'
import { createLog } from '@plant-store/server/operations/log.js'
import { createMetrics, type Metrics } from '@plant-store/server/operations/metrics/metrics.js'
import { boundNursery } from '@plant-store/server/process/nursery.js'
import { startServer } from '@plant-store/server/service/server.js'
import { loadConfig } from '@plant-store/server/settings/config.js'
import { GroupCommit } from '@plant-store/server/store/group-commit.js'
import type { CreateOutcome, PlantStore, Store } from '@plant-store/server/store/store.js'
import { makeSyncedFile, type SyncedFile } from '../synced-file.ts'
import { type CommitInTime, openCommit } from './commit.ts'
import { type Running, serveContestant } from './contestant.ts'
import { openPostgresCommit } from './postgres-commit.ts'
import { openWorkerCommit } from './worker-commit.ts'

const [address = '', kind = '', value = ''] = process.argv.slice(2)

function openStore(queueLimit: number, metrics: Metrics | undefined): Promise<Store> {
  const options = { queueLimit, observer: metrics?.store }
  return address.startsWith('postgres:')
    ? openPostgresStore({ ...options, databaseUrl: address, allowDataLoss: false })
    : openSqliteStore({ ...options, path: address })
}

function groupCommits(commit: CommitInTime, queueLimit: number, commitsInFlight = 1): PlantStore {
  const options = { commit, queueLimit, commitsInFlight }
  const commits = new GroupCommit<NewPlant, CreateOutcome>(options)
  return { create: (plant) => commits.add(plant) }
}

/** What no server that keeps plants can do without. */
function syncPlants(file: SyncedFile): PlantStore {
  return {
    async create() {
      file.write()
      return 'created'
    },
  }
}

async function choosePlants(store: Store, queueLimit: number): Promise<PlantStore> {
  switch (kind) {
    case 'as-it-is':
    case 'no-docs':
    case 'no-operations':
      return store.plants
    case 'no-store':
      return { create: () => Promise.resolve('created') }
    case 'one-sync':
      return syncPlants(makeSyncedFile(`${address}-synced`))
    case 'main':
      return groupCommits(await openCommit(address, Number(value)), queueLimit)
    case 'worker':
      return groupCommits(openWorkerCommit(address, Number(value)), queueLimit)
    case 'flights':
      return groupCommits(openPostgresCommit(address), queueLimit, Number(value))
    default:
      throw new Error(`${kind}: there is no such store`)
  }
}

async function issueToken({ tokens }: Store): Promise<string> {
  const { text, id, secretSha256 } = createOpaqueToken()
  const unused = { expiresAt: undefined, revokedAt: undefined, lastUsedAt: undefined }
  await tokens.add({ id, name: 'benchmark', secretSha256, createdAt: Date.now(), ...unused })
  return text
}

async function start(): Promise<Running> {
  const anyPort = '127.0.0.1:0'
  // An empty environment: whoever measures may have settings of a server of their own.
  // What the log would say at `info` is told by the load as well: each answer that is not 200.
  const operationsListen = kind === 'no-operations' ? 'off' : anyPort
  const docs = kind === 'no-docs' ? 'off' : 'on'
  const flags = { listen: anyPort, operationsListen, docs, logLevel: 'error' }
  const config = loadConfig(flags, [], {})
  const metrics = config.operationsListen && createMetrics()
  const store = await openStore(config.queueLimit, metrics)
  metrics?.watchStore(store)
  const token = await issueToken(store)
  const plants = await choosePlants(store, config.queueLimit)
  const server = await startServer({
    ...config,
    store: { plants, isReady: () => store.isReady() },
    metrics,
    authenticate: createAuthenticate(store.tokens, undefined, metrics?.tokenCache),
    log: createLog(config.logLevel),
  })
  return {
    port: Number(new URL(server.url).port),
    token,
    async close() {
      await server.close()
      await store.close()
    },
  }
}

// As the program's own main module does.
boundNursery()
await serveContestant(start)
