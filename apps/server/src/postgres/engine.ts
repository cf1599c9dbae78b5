import type { CopiesElsewhere, Engine } from '../store/engine.ts'
import { migratePostgresDatabase } from './migrations.ts'
import { openPostgresSnapshot } from './snapshot.ts'
import { openPostgresStore, readPostgresFacts } from './store.ts'
import { withoutSecrets } from './url.ts'

const copies: CopiesElsewhere = {
  engine: 'PostgreSQL',
  backUpBy: 'pg_dump --format=custom --file=FILE --host=HOST --username=USER DATABASE',
  restoreBy: 'pg_restore --single-transaction --host=HOST --username=USER --dbname=DATABASE FILE',
  password: 'in the file that PGPASSFILE names',
}

/** A store in a PostgreSQL database: `postgres://user@host/database`. */
export const postgres: Engine = {
  schemes: ['postgres', 'postgresql'],
  form: /^postgres(?:ql)?:\/\/./s,
  formInWords: 'postgres:// and a database',
  withoutSecrets,
  at: (databaseUrl) => ({
    open: (options) => openPostgresStore({ ...options, databaseUrl }),
    snapshot: () => openPostgresSnapshot(databaseUrl),
    migrate: ({ allowDataLoss }) => migratePostgresDatabase(databaseUrl, allowDataLoss),
    migrateDistributed: ({ allowDataLoss }) =>
      migratePostgresDatabase(databaseUrl, allowDataLoss, true),
    facts: (options) => readPostgresFacts(databaseUrl, options),
    copies,
  }),
}
