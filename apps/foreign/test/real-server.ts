import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createAuthenticate } from '@plant-store/server/auth/authenticate.js'
import { issueToken } from '@plant-store/server/auth/issue-token.js'
import { loadConfig } from '@plant-store/server/config.js'
import { createLog } from '@plant-store/server/operations/log.js'
import { startServer } from '@plant-store/server/server.js'
import { openSqliteStore } from '@plant-store/server/store/sqlite/sqlite.js'

export interface RealServer {
  readonly url: string
  readonly token: string
  /** What its file holds, by id. */
  readPlants(): ReadonlyMap<bigint, string>
  close(): Promise<void>
}

/** The real server over a real SQLite file of its own. */
export async function startRealServer(): Promise<RealServer> {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-foreign-'))
  const path = join(folder, 'plants.db')
  const store = await openSqliteStore({ path, queueLimit: 8_192 })
  const { text: token } = await issueToken(store, 'foreign', Number.POSITIVE_INFINITY)
  const server = await startServer({
    ...loadConfig({}, [], {}),
    store,
    authenticate: createAuthenticate(store.tokens),
    log: createLog('silent'),
    listen: { host: '127.0.0.1', port: 0 },
    operationsListen: undefined,
    shutdownTimeoutMs: 200,
  })
  return {
    url: server.url,
    token,
    readPlants() {
      const database = new DatabaseSync(path, { readOnly: true })
      const select = database.prepare('SELECT id, name FROM plants')
      select.setReadBigInts(true)
      const plants = select.all().map(({ id, name }) => [id as bigint, String(name)] as const)
      database.close()
      return new Map(plants)
    },
    async close() {
      await server.close()
      await store.close()
      rmSync(folder, { recursive: true })
    },
  }
}
