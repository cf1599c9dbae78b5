import type { TestProject } from 'vitest/node'
import { startPostgres } from '../../../../test/postgres-server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The database over which the tests of a project run; none means that each makes its own. */
    readonly databaseUrl: string | undefined
  }
}

/** Starts one PostgreSQL for all files of the wire table, unless they are to use another. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.PLANT_STORE_TEST_DATABASE_URL
  if (given?.startsWith('postgres')) {
    project.provide('databaseUrl', given)
    return async () => {}
  }
  const postgres = await startPostgres(['max_connections=200'])
  project.provide('databaseUrl', postgres.urlOf('postgres'))
  return () => postgres.stop()
}
