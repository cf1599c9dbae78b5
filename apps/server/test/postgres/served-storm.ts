import { expect } from 'vitest'
import type { ServerProcess } from '../process/server-process.ts'
import { createHistory } from './history.ts'
import { clientOf, isReady, type PreparedDatabase, readRows } from './served-database.ts'
import { startStorm } from './storm.ts'

const CALLERS = 16

/** Callers wait no longer than this, whatever happens to the database. */
export const LONGEST_ANSWER_MS = 10_000

/** What a history is judged to be where every response was true. */
export const NOTHING = { lost: [], altered: [], doubled: [], lies: [] }

/** Lets callers loose on servers until the test has done its worst. */
export function startServedStorm(
  servers: ServerProcess | readonly ServerProcess[],
  { token }: PreparedDatabase,
) {
  const history = createHistory()
  const all = [servers].flat()
  const clients = all.map(({ url }) => clientOf(url, token))
  const seed = Date.now()
  const storm = startStorm({ history, clients: () => clients, callers: CALLERS, seed })
  return {
    ...storm,
    /** Ends the storm, and fails unless every response was true and came in time. */
    async endAndJudge(databaseUrl: string): Promise<void> {
      await storm.acknowledges(200)
      await storm.stop()
      const verdict = history.judge(await readRows(databaseUrl))
      expect(verdict, `seed ${seed}`).toMatchObject(NOTHING)
      expect(history.slowestMs).toBeLessThan(LONGEST_ANSWER_MS)
      expect(await Promise.all(all.map(isReady))).not.toContain(false)
    },
    /** When each server has stored one more plant. */
    stored(): Promise<number[]> {
      const send = async (client: ReturnType<typeof clientOf>) => {
        const id = BigInt(-Math.ceil(Math.random() * 2 ** 52))
        while ((await history.send(client, { id, name: `probe ${id}` })) !== 'stored');
        return performance.now()
      }
      return Promise.all(clients.map(send))
    },
  }
}
