import { join } from 'node:path'
import { createAuthenticate } from '../../../apps/server/src/auth/token-cache.ts'
import { issueToken } from '../../../apps/server/src/auth/tokens.ts'
import { loadConfig } from '../../../apps/server/src/config/config.ts'
import { startServer } from '../../../apps/server/src/http/server.ts'
import { openSqliteStore } from '../../../apps/server/src/sqlite/store.ts'
import type { PlantStore } from '../../../apps/server/src/store/store.ts'
import { createLog } from '../../../apps/server/src/telemetry/log.ts'
import { readPlants } from '../../../test/sqlite-file.ts'
import { temporaryFolder } from '../../../test/temporary-folder.ts'

/**
 * The real server over a real SQLite file, in this process.
 * @param breakStore stands between the server and the store, to fail as a store may
 */
export async function startBrokenServer(breakStore: (plants: PlantStore) => PlantStore) {
  const path = join(temporaryFolder(), 'plants.db')
  const store = await openSqliteStore({ path })
  const { text: token } = await issueToken(store, 'real', Number.POSITIVE_INFINITY)
  const flags = { listen: '127.0.0.1:0', operationsListen: 'off', shutdownTimeoutMs: '200' }
  const broken = { ...store, plants: breakStore(store.plants) }
  const authenticate = createAuthenticate(store.tokens)
  const log = createLog('silent')
  const { url, close } = await startServer(loadConfig(flags, {}), broken, { authenticate, log })
  return {
    url,
    port: Number(new URL(url).port),
    token,
    stop: () => close().then(store.close),
    readPlants: () => new Map(readPlants(path).map(({ id, ...plant }) => [id, plant])),
  }
}
