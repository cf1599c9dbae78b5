import { describe, expect, test } from 'vitest'
import { engineOf } from '../../src/engines.ts'

describe('a database URL of no engine is refused, with the forms that there are and no secret', () => {
  test.each([
    ['another scheme', 'mysql://owner:rosebud@localhost/plants', 'mysql:'],
    ['no scheme', 'rosebud', 'this'],
    ['a scheme alone', 'sqlite:', 'sqlite:'],
    ['PostgreSQL without a host or database', 'postgres:rosebud', 'postgres:'],
    ['a scheme that only begins as one', 'sqlite3:rosebud', 'sqlite3:'],
  ])('%s', (_what, url, named) => {
    expect(() => engineOf(url)).toThrow(
      expect.objectContaining({
        message: `${named} is no database that this program knows`,
        fix: 'sqlite: and a path, or postgres:// and a database',
      }),
    )
  })
})
