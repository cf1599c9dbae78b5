import { expect } from 'vitest'
import type { ServerProcess } from '../process/server-process.ts'
import { createHistory } from './history.ts'
import { clientOf, isReady, type PreparedDatabase, readRows } from './served-database.ts'
import { startStorm } from './storm.ts'

const CALLERS = 16

/** Callers wait no longer than this, whatever happens to the database. */
export const LONGEST_ANSWER_MS = 10_000

/** Lets callers loose on a server until the test has done its worst. */
export function startServedStorm(server: ServerProcess, { token }: PreparedDatabase) {
  const history = createHistory()
  const clients = [clientOf(server.url, token)]
  const seed = Date.now()
  const storm = startStorm({ history, clients: () => clients, callers: CALLERS, seed })
  return {
    ...storm,
    /** Ends the storm, and fails unless every reply was true and came in time. */
    async endAndJudge(databaseUrl: string): Promise<void> {
      await storm.acknowledges(200)
      await storm.stop()
      const verdict = history.judge(await readRows(databaseUrl))
      const nothing = { lost: [], altered: [], doubled: [], lies: [] }
      expect(verdict, `seed ${seed}`).toMatchObject(nothing)
      expect(history.slowestMs).toBeLessThan(LONGEST_ANSWER_MS)
      expect(await isReady(server)).toBe(true)
    },
  }
}
