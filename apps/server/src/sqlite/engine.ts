import type { Engine } from '../store/engine.ts'
import { readSqliteFacts } from './facts.ts'
import { findWideModes } from './files/permissions.ts'
import { backUpStore, restoreStore } from './maintenance/backup.ts'
import { migrateSqlite } from './maintenance/migrate.ts'
import { openSqliteSnapshot } from './maintenance/snapshot.ts'
import { openSqliteStore } from './sqlite.ts'

/** A store in one SQLite file, relative to the working folder or absolute: `sqlite:./plants.db`. */
export const sqlite: Engine = {
  schemes: ['sqlite'],
  form: /^sqlite:./s,
  formInWords: 'sqlite: and a path',
  withoutSecrets: (databaseUrl) => databaseUrl,
  at(databaseUrl) {
    const file = databaseUrl.slice('sqlite:'.length)
    return {
      open: (options) => openSqliteStore({ ...options, path: file }),
      snapshot: async () => openSqliteSnapshot(file),
      migrate: () => migrateSqlite(file),
      facts: () => readSqliteFacts(file),
      copies: {
        file,
        backUp: (target, options) => backUpStore(file, target, options),
        restore: (backup, options) => restoreStore(backup, file, options),
      },
      findWideModes: () => findWideModes(file),
    }
  },
}
