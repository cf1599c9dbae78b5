import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { PASSWORD, type PostgresServer, startPostgres, USER } from './postgres-server.ts'
import { makeStandby, startSynchronousStandby, waitForStandby } from './standby.ts'

/** A primary and its synchronous standby, which change their parts. */
export interface Pair {
  readonly primary: PostgresServer
  readonly standby: PostgresServer
  /** The URL of a database with both servers, the first primary first. */
  urlOf(database: string): string
  /** Both servers, the standby first. */
  turnedUrlOf(database: string): string
  /** Makes the standby the primary; the time at which it took writes, as of performance.now(). */
  promote(): Promise<number>
  /** Makes the server that was the primary the standby of the new one. */
  rejoin(): Promise<void>
  stop(): Promise<void>
}

/** Asks without a pause, because pg_promote itself looks only every 100 ms. */
async function watchPromotion(server: PostgresServer): Promise<number> {
  const client = new pg.Client(server.urlOf('postgres'))
  await client.connect()
  try {
    const promoted = server.query(server.urlOf('postgres'), 'SELECT pg_promote()')
    for (;;) {
      const { rows } = await client.query('SELECT pg_is_in_recovery() AS waits')
      if (rows[0].waits) continue
      const at = performance.now()
      await promoted
      return at
    }
  } finally {
    await client.end()
  }
}

export async function startPair(): Promise<Pair> {
  let primary = await startPostgres()
  let standby = await startSynchronousStandby(primary)
  const hosts = [primary, standby].map(({ port }) => `127.0.0.1:${port}`)
  const urlOf = (database: string, list: readonly string[]) =>
    `postgres://${USER}:${encodeURIComponent(PASSWORD)}@${list.join(',')}/${database}`
  return {
    get primary() {
      return primary
    },
    get standby() {
      return standby
    },
    urlOf: (database) => urlOf(database, hosts),
    turnedUrlOf: (database) => urlOf(database, hosts.toReversed()),
    async promote() {
      const at = await watchPromotion(standby)
      ;[primary, standby] = [standby, primary]
      return at
    },
    async rejoin() {
      await standby.stop({ keepFolder: true })
      for (const name of readdirSync(standby.folder)) {
        rmSync(join(standby.folder, name), { recursive: true, maxRetries: 20, retryDelay: 100 })
      }
      await makeStandby(primary, standby.folder)
      await standby.start()
      await waitForStandby(primary)
    },
    async stop() {
      await standby.stop()
      await primary.stop()
    },
  }
}
