import { openSqliteStore } from './sqlite/sqlite.ts'
import { type Store, StoreRefusedError } from './store.ts'

export interface OpenStoreOptions {
  /** `sqlite:` and a path, relative to the working folder or absolute. */
  readonly databaseUrl: string
  readonly queueLimit: number
}

/** Opens the store that a database URL names. The scheme alone decides the engine. */
export async function openStore({ databaseUrl, queueLimit }: OpenStoreOptions): Promise<Store> {
  const [scheme, path] = databaseUrl.split(/:(.*)/s)
  if (scheme === 'sqlite' && path) return openSqliteStore({ path, queueLimit })
  throw new StoreRefusedError(`${scheme}: is no database that this program knows`)
}
