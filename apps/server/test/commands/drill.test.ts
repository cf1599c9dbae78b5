import {
  closeSync,
  cpSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readRoot } from '../process/node-flags.ts'
import { startServerProcess } from '../process/server-process.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { addPlants, execute, makeStore, spreadPlants } from './plants.ts'
import { runShell } from './shell.ts'

interface Row {
  readonly state: string
  readonly says: string
  readonly command: string
}

/** The rows of the table on how to restore. */
function readRows(): Row[] {
  const [, section = ''] = readRoot('docs/recovery.md').split('### Restore a backup\n')
  const [table = ''] = section.split('\n- ')
  const rows = table.matchAll(/^\| (.*?) +\| `(.*?)` +\| `(plant-store-server .*?)` +\|$/gm)
  return [...rows].map(([, state = '', says = '', command = '']) => ({ state, says, command }))
}

function overwrite(path: string, from: number, length: number): void {
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.alloc(length, 0xa5), 0, length, from)
  closeSync(file)
}

/** What makes each state of a store that was closed by a kill, so that its log is there. */
const ways: Record<string, (path: string, folder: string) => unknown> = {
  'all files are gone, or a new machine': (path) => {
    for (const end of ['', '-wal', '-shm']) rmSync(path + end)
  },
  '`plants.db` is gone, and `plants.db-wal` is not': (path) => rmSync(path),
  '`plants.db` is empty, and `plants.db-wal` is not': (path) => truncateSync(path),
  'the beginning of `plants.db` was overwritten': (path) => {
    execute(path, 'PRAGMA wal_checkpoint(TRUNCATE)')
    overwrite(path, 0, 4_096)
  },
  'pages inside `plants.db` are damaged': (path) => {
    execute(path, 'PRAGMA wal_checkpoint(TRUNCATE)')
    overwrite(path, 20_480, 8_192)
  },
  'the database of another program in its place': (path) => {
    for (const end of ['', '-wal', '-shm']) rmSync(path + end)
    execute(path, 'CREATE TABLE letters (text)')
  },
  'a table, view or trigger that this program did not make': (path) =>
    execute(path, 'CREATE TRIGGER lose BEFORE INSERT ON plants BEGIN SELECT RAISE(IGNORE); END'),
  'a good store that shall be as it was at the backup': () => {},
  'a restore that was killed': (path) => {
    writeFileSync(`${path}.restoring`, 'a copy that was not put in place')
    renameSync(path, `${path}.set-aside-2026-11-22T21-36-25Z`)
  },
  'the wrong backup was restored, and the old store is aside': async (_path, folder) => {
    await makeStore(join(folder, 'other.db'), [{ id: 3n, name: 'Moss' }])
    await runShell(folder, 'server backup wrong.db --database-url sqlite:other.db')
  },
}

async function succeed(folder: string, line: string): Promise<string> {
  const { code, out, err } = await runShell(folder, line)
  expect({ code, err }, line).toMatchObject({ code: 0 })
  return out
}

function exportFrom(folder: string): Promise<string> {
  return succeed(folder, 'server export | sha256sum')
}

/** Plants over HTTP and past it, a backup, one plant more, and a kill. */
async function prepare() {
  const folder = temporaryFolder()
  const server = await startServerProcess({ folder })
  await server.client.createPlant({ id: 1, name: 'Fern' })
  addPlants(join(folder, 'data/plants.db'), spreadPlants(2_000))
  const exported = await exportFrom(folder)
  await succeed(folder, 'server backup --folder backups --keep 7')
  await server.client.createPlant({ id: 2, name: 'after the backup' })
  const withLater = await exportFrom(folder)
  await server.end('SIGKILL')
  const [backup = ''] = readdirSync(join(folder, 'backups'))
  return { folder, token: server.token, backup: `backups/${backup}`, exported, withLater }
}

test('the table of recovery.md has a row for each state that the drill makes, and no other', () => {
  expect(readRows().map(({ state }) => state)).toEqual(Object.keys(ways))
})

test('the command of each row brings back every plant, and the server serves them', async () => {
  const { folder: whole, token, backup, exported, withLater } = await prepare()
  let folder = ''
  for (const { state, says, command } of readRows()) {
    folder = temporaryFolder()
    cpSync(whole, folder, { recursive: true })
    await ways[state]?.(join(folder, 'data/plants.db'), folder)
    // What was set aside is looked for only once something is.
    const isUndone = command.includes('set-aside-TIME')
    const restore = says.startsWith('restore') ? backup : isUndone && 'wrong.db --set-aside'
    const shown = await runShell(folder, restore ? `server restore ${restore}` : 'server backup b')
    expect(shown.code, state).toBe(isUndone ? 0 : 69)
    expect(shown.err, state).toContain(says)
    const names = readdirSync(join(folder, 'data'))
    const aside = names.find((name) => /\.set-aside-[\dT-]+Z$/.test(name))
    const line = command
      .replace('plant-store-server', 'server')
      .replace('BACKUP', backup)
      .replace('plants.db.set-aside-TIME', `data/${aside}`)
    await succeed(folder, line)
    expect(await exportFrom(folder), state).toBe(isUndone ? withLater : exported)
  }
  const server = await startServerProcess({ folder, token })
  await server.client.createPlant({ id: 1, name: 'Fern' })
  await expect(server.client.createPlant({ id: 2, name: 'Moss' })).rejects.toThrow()
}, 240_000)
