import type { Engine } from '../store/engine.ts'
import { backUpStore, restoreStore } from './backup.ts'
import { readSqliteFacts } from './facts.ts'
import { migrateSqlite } from './open.ts'
import { openSqliteSnapshot } from './snapshot.ts'
import { openSqliteStore } from './store.ts'

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
      facts: ({ mustExist }) => readSqliteFacts(file, mustExist),
      copies: {
        file,
        backUp: (target, options) => backUpStore(file, target, options),
        restore: (backup, options) => restoreStore(backup, file, options),
      },
    }
  },
}
