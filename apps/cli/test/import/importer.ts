import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openScreen, runProgram, type ScreenOptions, startProgram } from '../helpers/program.ts'
import { type PlantStoreServer, startServer } from '../helpers/server.ts'
import { makeTemporaryFolder } from '../helpers/temporary-folder.ts'

/** `id,name` and a row for each id from `from` on. */
export function rowsOf(count: number, from = 0): string {
  return Array.from({ length: count }, (_, index) => `${from + index},Fern ${from + index}\n`).join(
    '',
  )
}

/** A server, a folder, and the program in it with a token for that server. */
export async function openImporter(flags: readonly string[] = [], given?: PlantStoreServer) {
  const server = given ?? (await startServer(flags))
  const cwd = makeTemporaryFolder()
  const env = { PLANT_STORE_BASE_URL: server.url, PLANT_STORE_TOKEN: server.token }
  const pathOf = (name: string) => join(cwd, name)
  return {
    server,
    cwd,
    env,
    write: (name: string, content: string | Uint8Array) => writeFileSync(pathOf(name), content),
    read: (name: string) => readFileSync(pathOf(name), 'utf8'),
    has: (name: string) => existsSync(pathOf(name)),
    pathOf,
    run: (args: readonly string[], options: { readonly input?: string | Uint8Array } = {}) =>
      runProgram(['import', ...args], { cwd, env, ...options }),
    start: (args: readonly string[]) => startProgram(['import', ...args], { cwd, env }),
    screen: (args: readonly string[], options: ScreenOptions = {}) =>
      openScreen(['import', ...args], { cwd, env, ...options }),
  }
}

/** Waits until something holds. */
export async function until(holds: () => boolean, ms = 40_000): Promise<void> {
  const end = Date.now() + ms
  while (!holds()) {
    if (Date.now() > end) throw new Error(`not within ${ms} ms: ${holds}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
