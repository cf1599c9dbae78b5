import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { findFreePort } from '../../../server/test/free-port.ts'
import { startServerProcess } from '../../../server/test/process/server-process.ts'
import { temporaryFolder } from '../../../server/test/temporary-folder.ts'

export type PlantStoreServer = Awaited<ReturnType<typeof startServer>>

/**
 * Starts the real server in a process of its own, over a file of its own, which ends with the test;
 * `flags` such as `--max-…=1` are its settings. `token` may create plants.
 */
export async function startServer(flags: readonly string[] = []) {
  const folder = temporaryFolder()
  // Where it is made as no other is named.
  const path = join(folder, 'data/plants.db')
  const listen = `--listen=127.0.0.1:${await findFreePort()}`
  const args = ['serve', listen, '--operations-listen=off', ...flags]
  let running = await startServerProcess({ folder, args })
  const { url, token } = running
  return {
    url,
    token,
    databaseUrl: `sqlite:${path}`,
    /** Starts it again over the same file, at the same URL. */
    start: async () => {
      running = await startServerProcess({ folder, args, token })
    },
    /** Ends the process: by SIGTERM in order, by SIGKILL at once. */
    stop: (signal?: 'SIGTERM' | 'SIGKILL') => running.end(signal),
    /** The names and tags that its file holds now, by their ids. */
    readPlants() {
      const database = new DatabaseSync(path, { timeout: 10_000 })
      const select = database.prepare('SELECT id, name, tag FROM plants')
      select.setReadBigInts(true)
      const rows = select.all().map(({ id, name, tag }) => {
        return [id as bigint, { name: String(name), tag: tag as string | null }] as const
      })
      database.close()
      return new Map(rows)
    },
  }
}
