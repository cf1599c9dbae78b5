import { join } from 'node:path'
import type { Logger } from 'pino'
import { onTestFinished } from 'vitest'
import { createAuthenticate } from '../../src/auth/authenticate.ts'
import { issueToken } from '../../src/auth/issue-token.ts'
import { openStore } from '../../src/engines/engines.ts'
import { createLog } from '../../src/operations/log.ts'
import { createMetrics, type Metrics } from '../../src/operations/metrics/metrics.ts'
import { type RunningServer, startServer } from '../../src/service/server.ts'
import { loadConfig } from '../../src/settings/config.ts'
import type { Store } from '../../src/store/store.ts'
import type { TestClient } from '../clients.ts'
import { clientWithoutRetries } from '../process/server-process.ts'
import { temporaryFolder } from '../temporary-folder.ts'

export interface MeasuredServerOptions {
  /** A new SQLite file by default. */
  readonly databaseUrl?: string
  readonly queueLimit?: number
  readonly tokenName?: string
}

/** A real server with a real store, with metrics and a log at `trace`. */
export interface MeasuredServer extends RunningServer {
  readonly operationsUrl: string
  /** The port of `url`. */
  readonly port: number
  /** Where it keeps a SQLite file. */
  readonly folder: string
  readonly store: Store
  readonly metrics: Metrics
  readonly log: Logger
  readonly token: string
  readonly client: TestClient
  /** The lines logged so far. */
  readonly logLines: string[]
  /** The samples of `/metrics` by name and labels. */
  scrape(): Promise<Map<string, number>>
}

const ANY_PORT = { host: '127.0.0.1', port: 0 }

/** The samples in Prometheus's text format, without comments. */
export function readSamples(text: string): Map<string, number> {
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    samples.map((line) => {
      const end = line.lastIndexOf(' ')
      return [line.slice(0, end), Number(line.slice(end + 1))]
    }),
  )
}

/** Starts a server as `serve` does, within this process; it ends with the test. */
export async function startMeasuredServer(
  options: MeasuredServerOptions = {},
): Promise<MeasuredServer> {
  const folder = temporaryFolder()
  const { databaseUrl = `sqlite:${join(folder, 'plants.db')}`, queueLimit = 8_192 } = options
  const config = { ...loadConfig({}, [], {}), databaseUrl, queueLimit, shutdownTimeoutMs: 1_000 }
  const logLines: string[] = []
  const log = createLog('trace', { write: (line) => void logLines.push(line) })
  const metrics = createMetrics()
  const store = await openStore({ ...config, observer: metrics.store })
  metrics.measureStore(store)
  const { text: token } = await issueToken(store, options.tokenName ?? 'greenhouse', 3_600_000)
  const server = await startServer({
    ...config,
    store,
    metrics,
    log,
    authenticate: createAuthenticate(store.tokens, undefined, metrics.tokenCache),
    listen: ANY_PORT,
    operationsListen: ANY_PORT,
  })
  let closed: Promise<void> | undefined
  const close = () => (closed ??= server.close())
  onTestFinished(async () => {
    await close()
    await store.close()
  })
  const operationsUrl = server.operationsUrl ?? ''
  return {
    ...server,
    close,
    operationsUrl,
    port: Number(new URL(server.url).port),
    folder,
    store,
    metrics,
    log,
    token,
    logLines,
    client: clientWithoutRetries({ url: server.url, token }),
    scrape: async () => readSamples(await (await fetch(`${operationsUrl}/metrics`)).text()),
  }
}
