import { join } from 'node:path'
import { type ServerProcess, startServerProcess } from '../../process/server-process.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { createRequests, type Pressed, type PressOptions, press } from './press.ts'
import { findLies, type Lies } from './truth.ts'

/** A server process with the good and the bad callers of a test. */
export interface PressedServer {
  readonly process: ServerProcess
  readonly port: number
  readonly goodRequest: (id: number) => string
  /** Good callers, few enough for any server. */
  pressGently(seconds: number, firstId: number): Promise<Pressed>
  press(options: Omit<PressOptions, 'port'>): Promise<Pressed>
  /** Ends the server and holds every reply against what is stored. */
  findLies(pressed: readonly Pressed[]): Promise<Lies>
}

/** Starts a server whose log is silent, with these settings beside the defaults. */
export async function startPressedServer(
  environment: Readonly<Record<string, string>>,
): Promise<PressedServer> {
  const folder = temporaryFolder()
  const server = await startServerProcess({
    folder,
    environment: { PLANT_STORE_LOG_LEVEL: 'silent', ...environment },
  })
  const port = Number(new URL(server.url).port)
  const goodRequest = createRequests(port, () => `authorization: Bearer ${server.token}`)
  return {
    process: server,
    port,
    goodRequest,
    pressGently: (seconds, firstId) =>
      press({ port, requestFor: goodRequest, connections: 8, perSecond: 50, seconds, firstId }),
    press: (options) => press({ port, ...options }),
    async findLies(pressed) {
      server.kill('SIGTERM')
      await server.ended
      return findLies(join(folder, 'data/plants.db'), pressed)
    },
  }
}
