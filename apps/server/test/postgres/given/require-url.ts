import { givenUrl } from '../given-postgres.ts'

/** Without it these tests would only prove again what they prove on a PostgreSQL of their own. */
export function setup(): void {
  if (givenUrl !== undefined) return
  throw new Error('name a database in PLANT_STORE_TEST_POSTGRES_URL: postgres://user@host/database')
}
