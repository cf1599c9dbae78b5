import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRequests, type Pressed, press } from '../test/limits/load/press.ts'
import { findLies, watchMemory } from '../test/limits/load/truth.ts'
import { prepareDatabase, type Served, serve } from './served.ts'

/** A server process and the requests that it lets in. */
export interface Rig {
  readonly served: Served
  readonly goodRequest: (id: number) => string
  /** Sends a load of new plants, good ones by default. */
  press(
    load: Omit<Parameters<typeof press>[0], 'port' | 'firstId' | 'requestFor'> & {
      readonly requestFor?: (id: number) => string
    },
  ): Promise<Pressed>
}

/** Memory of the second half beyond that of the first: more would be growth. */
const GROWTH_SHARE = 1.15
const GROWTH_MB = 50

let nextFirstId = 1

export function report(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** Reports a figure beside its bound, and remembers where it does not hold. */
export function judge(what: string, figure: number, bound: number): void {
  const holds = figure <= bound
  if (!holds) process.exitCode = 1
  report(`${holds ? '  holds' : '  FAILS'}  ${what}: ${Math.round(figure)} (at most ${bound})`)
}

/** Runs a load against a server of its own, and holds all that it answered against the database. */
export async function withServer(
  environment: Readonly<Record<string, string>>,
  run: (rig: Rig) => Promise<Pressed[]>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-overload-'))
  const databasePath = join(folder, 'plants.db')
  const database = await prepareDatabase(`sqlite:${databasePath}`)
  const served = await serve(database, environment)
  try {
    const goodRequest = createRequests(served.port, () => `authorization: Bearer ${database.token}`)
    const memory = watchMemory(served.pid)
    const pressed = await run({
      served,
      goodRequest,
      press(load) {
        nextFirstId += 100_000_000
        return press({ port: served.port, requestFor: goodRequest, firstId: nextFirstId, ...load })
      },
    })
    memory.stop()
    const [first, second] = memory.halves()
    const bound = Math.round(first * GROWTH_SHARE + GROWTH_MB)
    judge(`MB of memory in the second half, after ${Math.round(first)} in the first`, second, bound)
    await served.kill('SIGTERM')
    const { lost, storedThough } = findLies(databasePath, pressed)
    judge('answered 200 and lost', lost.length, 0)
    judge('refused and stored', storedThough.length, 0)
  } finally {
    if (served.isRunning()) await served.kill('SIGKILL')
    rmSync(folder, { recursive: true })
  }
}
