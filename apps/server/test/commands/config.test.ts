import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { settings } from '../../src/config/settings.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { runProgram } from './program.ts'
import { runShell } from './shell.ts'

describe('config', () => {
  test('prints every setting with its value and its source, of which a flag is the first', async () => {
    const { code, out } = await runShell(
      temporaryFolder(),
      'PLANT_STORE_LISTEN=127.0.0.1:5000 PLANT_STORE_REQUEST_LIMIT=5 server config --request-limit 7',
    )
    expect(code).toBe(0)
    const lines = out.trimEnd().split('\n')
    expect(lines).toHaveLength(Object.keys(settings).length)
    expect(lines).toContain('PLANT_STORE_LISTEN=127.0.0.1:5000  # PLANT_STORE_LISTEN')
    expect(lines).toContain('PLANT_STORE_REQUEST_LIMIT=7  # --request-limit')
    expect(lines).toContain('PLANT_STORE_BODY_LIMIT_BYTES=65536  # default')
  })

  test('names every wrong setting, and ends with 78', async () => {
    const { code, out, err } = await runProgram(['config', '--listen', 'x', '--request-limit', 'y'])
    expect({ code, out }).toEqual({ code: 78, out: '' })
    expect(err).toMatch(/--listen: must be.*--request-limit: must be/s)
  })

  /** URLs that can be read in more than one way. */
  const UNCLEAR = [
    'postgres:///db?PASSWORD=hunter2',
    'postgres:///db?hunter2',
    'postgres:///db?sslpassword=hunter2',
    'postgres://user:hunter2',
    'postgres://user:hunt/er2@host/db',
    'postgres://user:12/hunter2@host/db',
    'postgres://user:12?hunter2@host/db',
    'postgres://user:12#hunter2@host/db',
    'postgres://user%3Ahunter2@host/db',
    'postgres://host/db password=hunter2',
  ]

  const shownAs: [url: string, shown: string][] = [
    ['postgres://user:hunter2@host/db', 'postgres://user:***@host/db'],
    [
      'postgres://user:hunt:er@2@host:5432/db?sslmode=require',
      'postgres://user:***@host:5432/db?sslmode=require',
    ],
    ['postgres://:hunter2@host,other/db', 'postgres://:***@host,other/db'],
    [
      'postgres://host/db?user=a&password=hunter2&sslmode=disable',
      'postgres://host/db?user=a&password=***&sslmode=disable',
    ],
    ['postgres:///db?p%61ssword=hunter2', 'postgres:///db?password=***'],
    ['postgres:///db?password=a&password=hunter2', 'postgres:///db?password=***'],
    ['sqlite:./data/plants.db', 'sqlite:./data/plants.db'],
    ['postgres://user@host/db', 'postgres://user@host/db'],
    ...UNCLEAR.map((url): [string, string] => [url, 'postgres:***']),
  ]

  test.each(shownAs)('leaves the password of %s out', async (url, shown) => {
    const { out } = await runProgram(['config', '--database-url', url])
    expect(out).toContain(`\nPLANT_STORE_DATABASE_URL=${shown}  # --database-url\n`)
  })

  test('takes a pipe as the file of a secret, because it is read once', async () => {
    const file = 'PLANT_STORE_DATABASE_URL_FILE=<(echo sqlite:plants.db)'
    expect(await runShell(temporaryFolder(), `${file} server token list`)).toMatchObject({
      code: 0,
      err: expect.stringMatching(/^SQLite .*plants\.db/m),
    })
  })

  test('names a file as a source', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'url'), 'postgres://user:hunter2@host/db\n')
    const { out } = await runShell(folder, 'PLANT_STORE_DATABASE_URL_FILE=url server config')
    expect(out).toContain(
      '\nPLANT_STORE_DATABASE_URL=postgres://user:***@host/db  # PLANT_STORE_DATABASE_URL_FILE\n',
    )
  })
})
