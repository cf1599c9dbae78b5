import { join } from 'node:path'
import {
  type ServerProcess,
  type ServerProcessOptions,
  startServerProcess,
} from '../process/server-process.ts'
import { readPlants } from '../store/sqlite-file.ts'
import { temporaryFolder } from '../temporary-folder.ts'

export interface LoopsServer extends ServerProcess {
  /** What its file holds. */
  storedIds(): Set<bigint>
  /** The samples of `/metrics`. */
  scrape(): Promise<string>
}

const END_LOOPS = join(import.meta.dirname, 'end-loops.ts')

/** Starts the program with several loops, each of which can be told to end: see end-loops.ts. */
export async function startLoopsServer(
  environment: Readonly<Record<string, string>> = {},
  options: ServerProcessOptions = {},
): Promise<LoopsServer> {
  const { folder = temporaryFolder(), nodeFlags = [] } = options
  const server = await startServerProcess({
    ...options,
    folder,
    nodeFlags: ['--import', END_LOOPS, ...nodeFlags],
    environment: { PLANT_STORE_LOOPS: '2', ...environment },
  })
  return {
    ...server,
    storedIds: () => new Set(readPlants(join(folder, 'data/plants.db')).map(({ id }) => id)),
    scrape: async () => (await fetch(`${server.operationsUrl}/metrics`)).text(),
  }
}

/** The value of a sample; 0 where it is not there. */
export function sampleOf(metrics: string, sample: string): number {
  const line = metrics.split('\n').find((text) => text.startsWith(`${sample} `))
  return Number(line?.slice(sample.length + 1) ?? 0)
}
