import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { logLinesIn, startServerProcess } from '../process/server-process.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { makeStore, spreadPlants, takeSchemaBack } from './plants.ts'
import { runShell } from './shell.ts'

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8)
}

function modesIn(folder: string): Record<string, string> {
  return Object.fromEntries(readdirSync(folder).map((name) => [name, modeOf(join(folder, name))]))
}

/** An open store whose files all have one mode. */
function allFilesWith(mode: string): Record<string, string> {
  return { 'plants.db': mode, 'plants.db-shm': mode, 'plants.db-wal': mode }
}

async function startUnder(umask: string, folder: string) {
  const under = ['sh', '-c', `umask ${umask}; exec "$@"`, 'sh']
  const server = await startServerProcess({ folder, under })
  await server.client.createPlant({ id: 1, name: 'Fern' })
  return server
}

describe('what the program makes is for its owner only', () => {
  test.each(['000', '077'])(
    'the database, its log and their folder, under umask %s',
    async (umask) => {
      const folder = temporaryFolder()
      const server = await startUnder(umask, folder)
      expect(modeOf(join(folder, 'data'))).toBe('700')
      expect(modesIn(join(folder, 'data'))).toEqual(allFilesWith('600'))
      expect((await server.end()).err).not.toContain('other users')
    },
  )

  test.each(['000', '0277'])(
    'backups, what is restored and the audit file, under umask %s',
    async (umask) => {
      const folder = temporaryFolder()
      const path = join(folder, 'plants.db')
      await makeStore(path, spreadPlants(3))
      takeSchemaBack(path)
      const { code, err } = await runShell(
        folder,
        `umask ${umask}
      server migrate --database-url sqlite:plants.db &&
      server token create --name x --database-url sqlite:plants.db --audit-file audit.jsonl &&
      server backup backup.db --database-url sqlite:plants.db &&
      chmod 666 backup.db &&
      server restore backup.db --database-url sqlite:restored.db`,
      )
      expect({ code, err }).toMatchObject({ code: 0 })
      expect(modesIn(folder)).toEqual({
        'audit.jsonl': umask === '0277' ? '400' : '600',
        'backup.db': '666',
        ...allFilesWith('600'),
        'plants.db.last-backup': '600',
        'plants.db.schema-1': '600',
        'restored.db': '600',
      })
    },
  )

  test('a folder in a folder that is missing, under umask 000', async () => {
    const folder = temporaryFolder()
    await runShell(folder, 'umask 000; server migrate --database-url sqlite:a/b/plants.db')
    expect(modesIn(folder)).toEqual({ a: '700' })
    expect(modesIn(join(folder, 'a'))).toEqual({ b: '700' })
  })
})

describe('modes that let others in', () => {
  async function arrangeShared(plants: number) {
    const folder = temporaryFolder()
    const data = join(folder, 'data')
    mkdirSync(data)
    await makeStore(join(data, 'plants.db'), spreadPlants(plants))
    chmodSync(join(data, 'plants.db'), 0o660)
    chmodSync(data, 0o755)
    return { folder, data, path: join(data, 'plants.db') }
  }

  test('are left as they are, and logged once at the start of the server', async () => {
    const { folder, data, path } = await arrangeShared(0)
    const server = await startUnder('000', folder)
    expect(modesIn(data)).toEqual(allFilesWith('660'))
    expect(modeOf(data)).toBe('755')
    const lines = logLinesIn((await server.end()).err)
    expect(lines.filter(({ msg }) => String(msg).includes('other users'))).toEqual([
      expect.objectContaining({
        level: 'warn',
        modes: expect.arrayContaining([`755 ${data}`, `660 ${path}`, `660 ${path}-wal`]),
        fixes: expect.arrayContaining([`chmod 600 ${path}`]),
        msg: 'other users can read or change the store',
      }),
    ])
  })
})
