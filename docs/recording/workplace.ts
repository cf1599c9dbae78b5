import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type KillableServer,
  startKillableServer,
} from '../../packages/client/runtimes/real-server.ts'

const PROGRAM = fileURLToPath(new URL('../../apps/cli/dist/main.js', import.meta.url))

/** A place where a person has `plant-store`, a login, and an empty folder to work in. */
export interface Workplace {
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
  readonly server: KillableServer
  close(): Promise<void>
}

/** Starts a real server, and makes the built command line known by its name. */
export async function openWorkplace(): Promise<Workplace> {
  const server = await startKillableServer()
  const root = mkdtempSync(join(tmpdir(), 'plant-store-workplace-'))
  const folder = join(root, 'plants')
  const programs = join(root, 'programs')
  mkdirSync(folder)
  mkdirSync(programs)
  symlinkSync(PROGRAM, join(programs, 'plant-store'))
  return {
    folder,
    environment: {
      PATH: [programs, dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter),
      HOME: root,
      LANG: 'C.UTF-8',
      PLANT_STORE_BASE_URL: server.url,
      PLANT_STORE_TOKEN: server.token,
    },
    server,
    async close() {
      await server.endAndRead()
      rmSync(root, { recursive: true })
    },
  }
}
