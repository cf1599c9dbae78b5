import pg from 'pg'
import { onTestFinished } from 'vitest'

/** A connection of the test's own, past the store, which ends with the test. */
export async function openSession(databaseUrl: string): Promise<pg.Client> {
  const session = new pg.Client(databaseUrl)
  // A server that is stopped ends it; a statement that was under way fails by itself.
  session.on('error', () => {})
  await session.connect()
  onTestFinished(() => session.end())
  return session
}

/** Asks again until a query gives a row, and gives it. */
export async function waitForRow(
  session: pg.Client,
  text: string,
): Promise<Record<string, unknown>> {
  const deadline = performance.now() + 20_000
  for (;;) {
    const { rows } = await session.query(text)
    if (rows[0] !== undefined) return rows[0]
    if (performance.now() > deadline) throw new Error(`no row came of: ${text}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** Sessions of the store in the database that is asked. */
export const STORE_SESSIONS = `SELECT pid, query_start::text AS started FROM pg_stat_activity
  WHERE application_name = 'plant-store' AND datname = current_database()`

/** Those of them that wait for another transaction. */
export const WAITING_FOR_A_LOCK = `${STORE_SESSIONS} AND wait_event_type = 'Lock'`

/** Lets a process stand still until the function that it gives is called, or the test has finished. */
export function stopProcess(pid: number): () => void {
  const goOn = () => {
    try {
      process.kill(pid, 'SIGCONT')
    } catch {
      // It has ended by itself.
    }
  }
  process.kill(pid, 'SIGSTOP')
  onTestFinished(goOn)
  return goOn
}
