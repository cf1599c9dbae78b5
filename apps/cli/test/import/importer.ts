import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type RestartableServer,
  startRestartableServer,
} from '../../../../test/restartable-server.ts'
import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import {
  openScreen,
  type ProgramOptions,
  runProgram,
  startProgram,
  wordsOf,
} from '../helpers/program.ts'

/** A row of `id,name` for each id from 0 on. */
export function rowsOf(count: number): string {
  return Array.from({ length: count }, (_, id) => `${id},Fern ${id}\n`).join('')
}

/** A server, a folder with a file `plants.csv`, and `import` in it with a token for that server. */
export async function openImporter(
  content: string | Uint8Array = '',
  flags: readonly string[] = [],
  given?: RestartableServer,
) {
  const server = given ?? (await startRestartableServer(flags))
  const cwd = temporaryFolder()
  const env = { PLANT_STORE_BASE_URL: server.url, PLANT_STORE_TOKEN: server.token }
  const place = { cwd, env }
  const pathOf = (name: string) => join(cwd, name)
  const write = (name: string, text: string | Uint8Array) => writeFileSync(pathOf(name), text)
  const argsOf = (line: string) => ['import', ...wordsOf(line)]
  write('plants.csv', content)
  return {
    server,
    ...place,
    pathOf,
    write,
    read: (name: string) => readFileSync(pathOf(name), 'utf8'),
    /** What is in the folder beside the file. */
    others: () => readdirSync(cwd).filter((name) => name !== 'plants.csv'),
    run: (line = 'plants.csv', options: ProgramOptions & { readonly input?: string } = {}) =>
      runProgram(argsOf(line), { ...place, ...options }),
    start: () => startProgram(argsOf('plants.csv'), place),
    screen: (line = 'plants.csv') => openScreen(argsOf(line), { ...place, columns: 30 }),
  }
}
