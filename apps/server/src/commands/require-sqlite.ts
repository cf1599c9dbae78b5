import { CommandError, exitCodes } from './command-error.ts'

const SQLITE = /^sqlite:(.+)$/s

/** The file of a SQLite store, or undefined for a store of another engine. */
export function sqlitePathOf(databaseUrl: string): string | undefined {
  return SQLITE.exec(databaseUrl)?.[1]
}

/** @throws CommandError with what does the job instead when the store is no SQLite file. */
export function requireSqlite(databaseUrl: string, instead: string): string {
  const path = sqlitePathOf(databaseUrl)
  if (path !== undefined) return path
  throw new CommandError(instead, exitCodes.config)
}
