import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { environmentNameOf, flagOf, settingNames } from '../../src/config/settings.ts'
import { engineOf } from '../../src/engines.ts'
import { StoreRefusedError } from '../../src/store/store.ts'

describe('a database URL of no engine is refused, with the forms that there are and no secret', () => {
  test.each([
    ['another scheme', 'mysql://owner:rosebud@localhost/plants', 'mysql:'],
    ['no scheme', 'rosebud', 'this'],
    ['a scheme alone', 'sqlite:', 'sqlite:'],
    ['PostgreSQL without a host or database', 'postgres:rosebud', 'postgres:'],
    ['a scheme that only begins as one', 'sqlite3:rosebud', 'sqlite3:'],
  ])('%s', (_what, url, named) => {
    expect(() => engineOf(url)).toThrow(
      new StoreRefusedError(
        `${named} is no database that this program knows. ` +
          'Try: sqlite: and a path, or postgres:// and a database',
      ),
    )
  })
})

const SOURCE = join(import.meta.dirname, '../../src')

test.each(['store', 'engines'])('no setting and no command is named within %s', (folder) => {
  const names = settingNames.flatMap((name) => [environmentNameOf(name), flagOf(name)])
  for (const file of readdirSync(join(SOURCE, folder), { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts')) continue
    const text = readFileSync(join(SOURCE, folder, file), 'utf8')
    const named = [...names, 'plant-store-server'].filter((name) => text.includes(name))
    expect({ file, named }).toEqual({ file, named: [] })
  }
})
