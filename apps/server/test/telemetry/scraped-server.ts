import { join } from 'node:path'
import { inject } from 'vitest'
import {
  clientWithoutRetries,
  type ServerProcess,
  startServerProcess,
} from '../../../../test/server-process.ts'
import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import { issueToken } from '../../src/auth/tokens.ts'
import { openStore } from '../../src/engines.ts'
import { unitNodeFlags } from '../process/node-flags.ts'

/** A server process with a SQLite file of its own, whose client sends each plant once. */
export interface ScrapedServer extends ServerProcess {
  /** Where it keeps `plants.db`. */
  readonly folder: string
  /** The samples of `/metrics` by name and labels. */
  scrape(): Promise<Map<string, number>>
}

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

/** Starts the program as the project of the tests wants it; it ends with the test. */
export async function startScrapedServer(
  environment: Readonly<Record<string, string>> = {},
  tokenName = 'greenhouse',
  lifetimeMs = 3_600_000,
): Promise<ScrapedServer> {
  const folder = temporaryFolder()
  const databaseUrl = `sqlite:${join(folder, 'plants.db')}`
  const store = await openStore({ databaseUrl, allowDataLoss: false })
  const { text: token } = await issueToken(store, tokenName, lifetimeMs)
  await store.close()
  const server = await startServerProcess({
    folder,
    token,
    nodeFlags: inject('isConfined') ? unitNodeFlags(folder) : [],
    environment: { PLANT_STORE_DATABASE_URL: databaseUrl, ...environment },
  })
  return {
    ...server,
    folder,
    client: clientWithoutRetries(server),
    scrape: async () => readSamples(await (await fetch(`${server.operationsUrl}/metrics`)).text()),
  }
}
