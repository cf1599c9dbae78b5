import { join } from 'node:path'
import { startServerProcess } from '../../process/server-process.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { createRequests, type Pressed, type PressOptions, press } from './press.ts'
import { findLies } from './truth.ts'

/**
 * A server process whose log is silent, with these settings beside the defaults, and the good and the
 * bad callers of a test.
 */
export async function startPressedServer(environment: Readonly<Record<string, string>>) {
  const folder = temporaryFolder()
  const server = await startServerProcess({
    folder,
    environment: { PLANT_STORE_LOG_LEVEL: 'silent', ...environment },
  })
  const { port } = server
  const goodRequest = createRequests(port, () => `authorization: Bearer ${server.token}`)
  return {
    process: server,
    port,
    goodRequest,
    /** Good callers, few enough for any server. */
    pressGently: (seconds: number, firstId: number) =>
      press({ port, requestFor: goodRequest, connections: 8, perSecond: 50, seconds, firstId }),
    press: (options: Omit<PressOptions, 'port'>) => press({ port, ...options }),
    /** Ends the server and holds every reply against what is stored. */
    async findLies(pressed: readonly Pressed[]) {
      await server.end()
      return findLies(join(folder, 'data/plants.db'), pressed)
    },
  }
}
