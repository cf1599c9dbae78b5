import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startServerProcess } from '../process/server-process.ts'
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
      await server.end()
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
        'plants.db.schema-1.3': '600',
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

test('modes that let others in are left as they are', async () => {
  const folder = temporaryFolder()
  const data = join(folder, 'data')
  mkdirSync(data)
  await makeStore(join(data, 'plants.db'), [])
  chmodSync(join(data, 'plants.db'), 0o660)
  chmodSync(data, 0o755)
  const server = await startUnder('000', folder)
  expect(modesIn(data)).toEqual(allFilesWith('660'))
  expect(modeOf(data)).toBe('755')
  await server.end()
})
