import type { NewPlant } from '@plant-store/contract'
import { createAuthenticate } from '@plant-store/server/auth/authenticate'
import { createOpaqueToken } from '@plant-store/server/auth/opaque-token'
import { type Config, loadConfig } from '@plant-store/server/config'
import { createLog } from '@plant-store/server/operations/log'
import { startServer } from '@plant-store/server/server'
import { createGroupCommit } from '@plant-store/server/store/group-commit'
import { openSqliteStore } from '@plant-store/server/store/sqlite/sqlite'
import type { CreateOutcome, PlantStore, Store } from '@plant-store/server/store/store'
import { type Commit, openCommit } from './commit.ts'
import { type Running, serveContestant } from './contestant.ts'
import { openWorkerCommit } from './worker-commit.ts'

const [path = '', kind = '', delayMs = '0'] = process.argv.slice(2)

function groupCommits(commit: Commit, { queueLimit }: Config): PlantStore {
  const commits = createGroupCommit<NewPlant, CreateOutcome>({ commit, queueLimit })
  return { create: (plant) => commits.add(plant) }
}

function choosePlants(store: Store, config: Config): PlantStore {
  switch (kind) {
    case 'as-it-is':
      return store.plants
    case 'no-store':
      return { create: () => Promise.resolve('created') }
    case 'main':
      return groupCommits(openCommit(path, Number(delayMs)), config)
    case 'worker':
      return groupCommits(openWorkerCommit(path, Number(delayMs)), config)
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
  const config = loadConfig({ listen: anyPort, operationsListen: anyPort }, [], {})
  const store = openSqliteStore({ path, queueLimit: config.queueLimit })
  const token = await issueToken(store)
  const server = await startServer({
    ...config,
    store: { plants: choosePlants(store, config), isReady: () => store.isReady() },
    authenticate: createAuthenticate(store.tokens),
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

await serveContestant(start)
