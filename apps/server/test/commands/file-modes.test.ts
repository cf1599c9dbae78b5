import { chmodSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startServerProcess } from '../../../../test/server-process.ts'
import { takeSchemaBack } from './plants.ts'
import { arrange } from './program.ts'

function modesIn(folder: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder).map((name) => {
      const { mode } = statSync(join(folder, name))
      return [name, (mode & 0o777).toString(8)]
    }),
  )
}

/** An open store whose files all have one mode. */
function allFilesWith(mode: string): Record<string, string> {
  return { 'plants.db': mode, 'plants.db-shm': mode, 'plants.db-wal': mode }
}

async function serveOnePlant(umask: string, folder: string): Promise<void> {
  const under = ['sh', '-c', `umask ${umask}; exec "$@"`, 'sh']
  const server = await startServerProcess({ folder, under })
  await server.client.createPlant({ id: 1, name: 'Fern' })
}

describe('what the program makes is for its owner only', () => {
  test.each(['000', '077'])(
    'the database, its log and their folder, under umask %s',
    async (umask) => {
      const { folder, at } = await arrange()
      await serveOnePlant(umask, folder)
      expect(modesIn(folder)).toEqual({ data: '700' })
      expect(modesIn(at('data'))).toEqual(allFilesWith('600'))
    },
  )

  test.each([
    ['000', '600'],
    ['0277', '400'],
  ])('backups, what is restored and the audit file, under umask %s', async (umask, auditFile) => {
    const { path, at, shell } = await arrange(3)
    takeSchemaBack(path)
    const { code, err } = await shell(
      `umask ${umask}
      server migrate &&
      server token create --name x --audit-file data/audit.jsonl &&
      server backup data/backup.db &&
      chmod 666 data/backup.db &&
      server restore data/backup.db --database-url sqlite:data/restored.db`,
    )
    expect({ code, err }).toMatchObject({ code: 0 })
    expect(modesIn(at('data'))).toEqual({
      'audit.jsonl': auditFile,
      'backup.db': '666',
      ...allFilesWith('600'),
      'plants.db.last-backup': '600',
      'plants.db.schema-1.3': '600',
      'restored.db': '600',
    })
  })

  test('a folder in a folder that is missing, under umask 000', async () => {
    const { folder, at, shell } = await arrange()
    await shell('umask 000; server migrate --database-url sqlite:a/b/plants.db')
    expect([modesIn(folder), modesIn(at('a'))]).toEqual([{ a: '700' }, { b: '700' }])
  })
})

test('modes that let others in are left as they are', async () => {
  const { folder, path, at } = await arrange(0)
  chmodSync(path, 0o660)
  chmodSync(at('data'), 0o755)
  await serveOnePlant('000', folder)
  expect(modesIn(at('data'))).toEqual(allFilesWith('660'))
  expect(modesIn(folder)).toEqual({ data: '755' })
})
