import { createAuthenticate } from '../../src/auth/token-cache.ts'
import { loadConfig } from '../../src/config/config.ts'
import { openStore } from '../../src/engines.ts'
import { startServer } from '../../src/http/server.ts'
import { createLog } from '../../src/telemetry/log.ts'
import type { StartServer } from './server-under-test.ts'

/**
 * Starts a server within the process of the tests, for those alone that reach into it: to hold its
 * clock, or to see what of it is garbage.
 */
export const startInProcess: StartServer = async ({ url }, settings) => {
  const anyPort = '127.0.0.1:0'
  const places = { databaseUrl: url, listen: anyPort, operationsListen: anyPort }
  const config = loadConfig({ ...places, shutdownTimeoutMs: '100', ...settings }, [], {})
  const store = await openStore(config)
  const lines: string[] = []
  const server = await startServer(config, store, {
    authenticate: createAuthenticate(store.tokens),
    log: createLog('trace', { write: (line) => void lines.push(line) }),
  })
  return {
    port: Number(new URL(server.url).port),
    operationsPort: Number(new URL(server.operationsUrl ?? '').port),
    logLines: () => lines,
    resolveLog: async () => {},
    ended: new Promise(() => {}),
    async stop() {
      await server.close()
      await store.close()
    },
  }
}
