import { postgres } from './postgres/engine.ts'
import { sqlite } from './sqlite/engine.ts'
import type { Engine, EngineDatabase, OpenOptions } from './store/engine.ts'
import { type Store, StoreRefusedError } from './store/store.ts'

/** Every engine; a new one is a folder beside this file, and its name in this list. */
const engines: readonly Engine[] = [sqlite, postgres]

/** The form that a database URL must have, for people. */
export const databaseUrlForm = engines.map(({ formInWords }) => formInWords).join(', or ')

/** The scheme alone decides. */
function findEngine(databaseUrl: string): Engine | undefined {
  const [scheme = ''] = databaseUrl.split(':', 1)
  return engines.find(({ schemes }) => schemes.includes(scheme))
}

export function isDatabaseUrl(text: string): boolean {
  return findEngine(text)?.form.test(text) === true
}

/** A database URL without what may be a password: in doubt, nothing but its scheme. */
export function maskDatabaseUrl(databaseUrl: string): string {
  const [scheme = ''] = /^[a-z]+:/i.exec(databaseUrl) ?? []
  return findEngine(databaseUrl)?.withoutSecrets(databaseUrl) ?? `${scheme}***`
}

/**
 * The database that a URL names, whatever its engine. Nothing is opened yet.
 * @throws StoreRefusedError for a URL of no engine.
 */
export function engineOf(databaseUrl: string): EngineDatabase {
  const engine = findEngine(databaseUrl)
  if (engine?.form.test(databaseUrl)) return engine.at(databaseUrl)
  // No more of it, because it may hold a password.
  const [scheme = 'this'] = /^[a-z][a-z\d+.-]*:/i.exec(databaseUrl) ?? []
  throw new StoreRefusedError(`${scheme} is no database that this program knows`, {
    code: 'no_engine',
    fix: databaseUrlForm,
  })
}

export interface OpenStoreOptions extends OpenOptions {
  readonly databaseUrl: string
}

/** Opens the store that a database URL names. */
export function openStore({ databaseUrl, ...options }: OpenStoreOptions): Promise<Store> {
  return engineOf(databaseUrl).open(options)
}
