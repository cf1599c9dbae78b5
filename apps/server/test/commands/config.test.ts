import { writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { settings } from '../../src/config/settings.ts'
import { arrange, ends, runProgram } from './program.ts'

describe('config', () => {
  test('prints every setting with its value and its source, of which a flag is the first', async () => {
    const { at, shell } = await arrange()
    writeFileSync(at('url'), 'postgres://user:hunter2@host/db\n')
    const environment =
      'PLANT_STORE_LISTEN=127.0.0.1:5000 PLANT_STORE_REQUEST_LIMIT=5 PLANT_STORE_DATABASE_URL_FILE=url'
    const { code, out } = await shell(`${environment} server config --request-limit 7`)
    expect(code).toBe(0)
    const lines = out.trimEnd().split('\n')
    expect(lines).toHaveLength(Object.keys(settings).length)
    expect(lines).toEqual(
      expect.arrayContaining([
        'PLANT_STORE_LISTEN=127.0.0.1:5000  # PLANT_STORE_LISTEN',
        'PLANT_STORE_REQUEST_LIMIT=7  # --request-limit',
        'PLANT_STORE_BODY_LIMIT_BYTES=65536  # default',
        'PLANT_STORE_DATABASE_URL=postgres://user:***@host/db  # PLANT_STORE_DATABASE_URL_FILE',
      ]),
    )
  })

  test.each([
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
    // These can be read in more than one way.
    ['postgres:///db?PASSWORD=hunter2', 'postgres:***'],
    ['postgres:///db?hunter2', 'postgres:***'],
    ['postgres:///db?sslpassword=hunter2', 'postgres:***'],
    ['postgres://user:hunter2', 'postgres:***'],
    ['postgres://user:hunt/er2@host/db', 'postgres:***'],
    ['postgres://user:12/hunter2@host/db', 'postgres:***'],
    ['postgres://user:12?hunter2@host/db', 'postgres:***'],
    ['postgres://user:12#hunter2@host/db', 'postgres:***'],
    ['postgres://user%3Ahunter2@host/db', 'postgres:***'],
    ['postgres://host/db password=hunter2', 'postgres:***'],
  ])('leaves the password of %s out', async (url, shown) => {
    const { out } = await runProgram(['config', '--database-url', url])
    expect(out).toContain(`\nPLANT_STORE_DATABASE_URL=${shown}  # --database-url\n`)
  })

  test('takes a pipe as the file of a secret, because it is read once', async () => {
    const { shell } = await arrange(0)
    const file = 'PLANT_STORE_DATABASE_URL_FILE=<(echo sqlite:data/plants.db)'
    const ended = await shell(`${file} server token list`)
    expect(ended).toMatchObject(ends(0, /^SQLite .*plants\.db/m))
  })
})
