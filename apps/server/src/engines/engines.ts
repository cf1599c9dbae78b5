import type { StoreObserver } from '../store/observer.ts'
import { type Store, StoreRefusedError } from '../store/store.ts'
import { openPostgresStore } from './postgres/postgres.ts'
import { openSqliteStore } from './sqlite/sqlite.ts'

export interface OpenStoreOptions {
  /** `sqlite:` and a path, relative to the working folder or absolute; or `postgres://…`. */
  readonly databaseUrl: string
  readonly queueLimit: number
  readonly allowDataLoss: boolean
  readonly observer?: StoreObserver | undefined
}

/** Opens the store that a database URL names. The scheme alone decides the engine. */
export async function openStore(options: OpenStoreOptions): Promise<Store> {
  const [scheme, path] = options.databaseUrl.split(/:(.*)/s)
  if (scheme === 'sqlite' && path) {
    const { queueLimit, observer } = options
    return openSqliteStore({ path, queueLimit, observer })
  }
  if (scheme === 'postgres' || scheme === 'postgresql') return openPostgresStore(options)
  throw new StoreRefusedError(`${scheme}: is no database that this program knows`)
}
