import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openScreen, type ProgramOptions, runProgram, startProgram } from '../helpers/program.ts'
import { type PlantStoreServer, startServer } from '../helpers/server.ts'
import { makeTemporaryFolder } from '../helpers/temporary-folder.ts'

/** A row of `id,name` for each id from 0 on. */
export function rowsOf(count: number): string {
  return Array.from({ length: count }, (_, id) => `${id},Fern ${id}\n`).join('')
}

/** A server, a folder, and the program in it with a token for that server. */
export async function openImporter(flags: readonly string[] = [], given?: PlantStoreServer) {
  const server = given ?? (await startServer(flags))
  const cwd = makeTemporaryFolder()
  const env = { PLANT_STORE_BASE_URL: server.url, PLANT_STORE_TOKEN: server.token }
  const place = { cwd, env }
  const pathOf = (name: string) => join(cwd, name)
  return {
    server,
    ...place,
    pathOf,
    write: (name: string, content: string | Uint8Array) => writeFileSync(pathOf(name), content),
    read: (name: string) => readFileSync(pathOf(name), 'utf8'),
    has: (name: string) => existsSync(pathOf(name)),
    run: (args: readonly string[], options: ProgramOptions & { readonly input?: string } = {}) =>
      runProgram(['import', ...args], { ...place, ...options }),
    start: (...args: readonly string[]) => startProgram(['import', ...args], place),
    screen: (...args: readonly string[]) =>
      openScreen(['import', ...args], { ...place, columns: 30 }),
  }
}
