import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { inject, onTestFinished } from 'vitest'
import {
  clientWithoutRetries,
  type ServerProcess,
  startServerProcess,
} from '../../../../test/server-process.ts'
import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import { prepareDatabase } from '../postgres/served-database.ts'
import { unitNodeFlags } from '../process/node-flags.ts'

export type ScrapedServer = Awaited<ReturnType<typeof startScrapedServer>>

/** What a path of the operations listener says. */
export async function read({ operationsUrl }: Pick<ServerProcess, 'operationsUrl'>, path: string) {
  return (await fetch(`${operationsUrl}/${path}`)).text()
}

/** The samples of `/metrics` by name and labels. */
export async function scrape(server: Pick<ServerProcess, 'operationsUrl'>) {
  const lines = (await read(server, 'metrics')).split('\n')
  const samples = lines.filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    samples.map((line) => {
      const end = line.lastIndexOf(' ')
      return [line.slice(0, end), Number(line.slice(end + 1))]
    }),
  )
}

/**
 * Starts the program as the project of the tests wants it, over a SQLite file of its own; it ends
 * with the test, and its client sends each plant once.
 */
export async function startScrapedServer(
  environment: Readonly<Record<string, string>> = {},
  tokenName = 'greenhouse',
  lifetimeMs = 3_600_000,
) {
  const folder = temporaryFolder()
  const path = join(folder, 'plants.db')
  const { databaseUrl, token } = await prepareDatabase(`sqlite:${path}`, tokenName, lifetimeMs)
  const server = await startServerProcess({
    folder,
    token,
    nodeFlags: inject('isConfined') ? unitNodeFlags(folder) : [],
    environment: { PLANT_STORE_DATABASE_URL: databaseUrl, ...environment },
  })
  return {
    ...server,
    folder,
    /** Its file. */
    path,
    client: clientWithoutRetries(server),
    scrape: () => scrape(server),
    /** Lets no commit end until it is released, like another process that writes. */
    holdCommits() {
      const other = new DatabaseSync(path, { timeout: 10_000 })
      other.exec('BEGIN IMMEDIATE')
      const release = () => {
        if (other.isOpen) other.close()
      }
      onTestFinished(release)
      return release
    },
  }
}
