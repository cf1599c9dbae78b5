import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { findFreePort } from './free-port.ts'
import { startServerProcess } from './server-process.ts'
import { readPlants } from './sqlite-file.ts'
import { type OnEnd, temporaryFolder } from './temporary-folder.ts'

export type RestartableServer = Awaited<ReturnType<typeof startRestartableServer>>

/**
 * Starts the built server over a file of its own, at an address that it keeps; `flags` such as
 * `--body-limit-bytes=9` are its settings.
 */
export async function startRestartableServer(
  flags: readonly string[] = [],
  onEnd: OnEnd = onTestFinished,
) {
  const folder = temporaryFolder(onEnd)
  const path = join(folder, 'data/plants.db')
  const listen = `--listen=127.0.0.1:${await findFreePort()}`
  const options = { folder, args: ['serve', listen, '--log-level=silent', ...flags], onEnd }
  let server = await startServerProcess(options)
  const { url, port, token } = server
  return {
    url,
    port,
    token,
    databaseUrl: `sqlite:${path}`,
    /** Starts it again once it has ended. */
    async start() {
      server = await startServerProcess({ ...options, token })
    },
    signal: (signal: NodeJS.Signals) => server.kill(signal),
    /** Ends the process: by SIGTERM in order, by SIGKILL at once. */
    stop: (signal?: NodeJS.Signals) => server.end(signal),
    /** The names and tags that its file holds now, by their ids. */
    readPlants: () => new Map(readPlants(path).map(({ id, ...plant }) => [id, plant])),
  }
}
