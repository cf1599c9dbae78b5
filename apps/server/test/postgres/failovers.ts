import { setTimeout as sleep } from 'node:timers/promises'
import { type Served, serve } from '../../soak/served.ts'
import type { TestClient } from '../clients.ts'
import { createHistory, type History } from './history.ts'
import type { Pair } from './pair.ts'
import { createRandom, startStorm } from './storm.ts'

/** How much later than another a standby may be promoted, as by those who watch a primary. */
const MOST_DELAY_MS = 1_500

interface FailoversOptions {
  readonly pair: Pair
  /** The URLs of one migrated database without plants: a server process is started for each. */
  readonly databaseUrls: readonly string[]
  readonly token: string
  readonly failovers: number
  readonly callers: number
  readonly seed: number
  readonly onFailover?: (count: number) => unknown
}

/** How long callers of one server waited for the next 200, in ms. */
interface Outage {
  readonly sinceKill: number
  readonly sincePromotion: number
}

interface FailoversReport {
  readonly history: History
  /** One for each server and failover. */
  readonly outages: readonly Outage[]
}

/** Sends new plants until one is stored; the time of that reply. */
async function waitForStored(history: History, client: TestClient, ids: () => bigint) {
  for (;;) {
    const id = ids()
    if ((await history.send(client, { id, name: `probe ${id}` })) === 'stored') {
      return performance.now()
    }
    await sleep(5)
  }
}

/**
 * Kills the primary under load, promotes its synchronous standby, and lets the old one join again as
 * the standby of the new one, as many times as asked.
 */
export async function failOver(options: FailoversOptions): Promise<FailoversReport> {
  const { pair, databaseUrls, token, failovers, callers, seed, onFailover } = options
  const servers: Served[] = await Promise.all(databaseUrls.map((url) => serve(url, token)))
  const clients = servers.map(({ client }) => client)
  const history = createHistory()
  const outages: Outage[] = []
  const random = createRandom(seed + 1)
  let nextId = 0n
  try {
    const storm = startStorm({ history, clients: () => clients, callers, seed })
    for (let count = 1; count <= failovers; count++) {
      await storm.acknowledges(200)
      const killed = performance.now()
      pair.primary.kill()
      // After the kill, so that none of them is the reply to an earlier commit.
      await sleep(100 + (random() % MOST_DELAY_MS))
      const stored = clients.map((client) => waitForStored(history, client, () => nextId++))
      const promoted = await pair.promote()
      for (const at of await Promise.all(stored)) {
        outages.push({ sinceKill: at - killed, sincePromotion: at - promoted })
      }
      await pair.rejoin()
      onFailover?.(count)
    }
    await storm.acknowledges(200)
    await storm.stop()
    return { history, outages }
  } finally {
    await Promise.all(servers.map((server) => server.kill('SIGKILL')))
  }
}
