import { openPostgresStore } from './postgres/postgres.ts'
import { openSqliteStore } from './sqlite/sqlite.ts'
import { type CommitObserver, type Store, StoreRefusedError } from './store.ts'

export interface OpenStoreOptions {
  /** `sqlite:` and a path, relative to the working folder or absolute; or `postgres://…`. */
  readonly databaseUrl: string
  readonly queueLimit: number
  readonly allowDataLoss: boolean
  readonly observer?: CommitObserver | undefined
}

/** Opens the store that a database URL names. The scheme alone decides the engine. */
export async function openStore(options: OpenStoreOptions): Promise<Store> {
  const [scheme, path] = options.databaseUrl.split(/:(.*)/s)
  if (scheme === 'sqlite' && path) {
    return openSqliteStore({ path, queueLimit: options.queueLimit, observer: options.observer })
  }
  if (scheme === 'postgres' || scheme === 'postgresql') return openPostgresStore(options)
  throw new StoreRefusedError(`${scheme}: is no database that this program knows`)
}
