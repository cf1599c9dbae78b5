import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { issueToken } from '../src/auth/tokens.ts'
import { openSqliteStore } from '../src/sqlite/sqlite.ts'
import { createRequests, type Pressed } from '../test/limits/load/press.ts'
import { findLies } from '../test/limits/load/truth.ts'
import { judge } from './judge.ts'
import { type Served, serve } from './served.ts'

/** A server process and the requests that it lets in. */
export interface Rig {
  readonly served: Served
  readonly token: string
  readonly goodRequest: (id: number) => string
}

let nextFirstId = 1

/** Ids that no earlier load has used. */
export function takeIds(): number {
  nextFirstId += 100_000_000
  return nextFirstId
}

/** Runs a load against a server of its own, and holds all that it answered against the database. */
export async function withServer(
  environment: Readonly<Record<string, string>>,
  run: (rig: Rig) => Promise<Pressed[]>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-overload-'))
  const databasePath = join(folder, 'plants.db')
  const store = await openSqliteStore({ path: databasePath })
  const { text } = await issueToken(store, 'soak', Number.POSITIVE_INFINITY)
  await store.close()
  const served = await serve(`sqlite:${databasePath}`, text, environment)
  try {
    const goodRequest = createRequests(served.port, () => `authorization: Bearer ${text}`)
    const pressed = await run({ served, token: text, goodRequest })
    await served.kill('SIGTERM')
    const { lost, storedThough } = findLies(databasePath, pressed)
    judge('answered 200 and lost', lost.length, 0)
    judge('refused and stored', storedThough.length, 0)
  } finally {
    if (served.isRunning()) await served.kill('SIGKILL')
    rmSync(folder, { recursive: true })
  }
}
