import { createRestClient } from '@plant-store/client/rest'
import { createHistory, type History } from '../test/postgres/history.ts'
import { type Storm, startStorm } from '../test/postgres/storm.ts'
import { type Balancer, startBalancer } from '../test/process/balancer.ts'
import { type Served, serve } from './served.ts'

/** Plants that are stored between two restarts, so that each server is ended under load. */
const PLANTS_BETWEEN = 50

interface RollingOptions {
  /** Migrated, and without plants. */
  readonly databaseUrl: string
  readonly token: string
  readonly restarts: number
  readonly callers: number
  readonly seed: number
  readonly onRestart?: (count: number) => unknown
}

interface RollingReport {
  /** Every call and its last reply, after the client's retries. */
  readonly history: History
  /** Requests that the client sent again. */
  readonly retries: number
  /** Exit codes of the servers that were asked to end; 0 for each that ended in order. */
  readonly exitCodes: readonly (number | null)[]
}

function portOf({ url }: Served): number {
  return Number(new URL(url).port)
}

async function restartInTurn(
  { databaseUrl, token, restarts, onRestart }: RollingOptions,
  servers: Served[],
  balancer: Balancer,
  storm: Storm,
): Promise<(number | null)[]> {
  const exitCodes: (number | null)[] = []
  for (let count = 0; count < restarts; count++) {
    const place = count % servers.length
    await storm.acknowledges(PLANTS_BETWEEN)
    if (balancer.openTo(place) === 0) throw new Error('the server to end has no callers')
    exitCodes.push((await servers[place]?.kill('SIGTERM')) ?? null)
    servers[place] = await serve(databaseUrl, token)
    balancer.lead(place, portOf(servers[place]))
    onRestart?.(count + 1)
  }
  await storm.acknowledges(PLANTS_BETWEEN)
  return exitCodes
}

/**
 * Restarts two servers behind one address in turn, under load of the client as it is; while one is
 * away the other one has all the callers. Ends with both servers and the balancer gone.
 */
export async function rollServers(options: RollingOptions): Promise<RollingReport> {
  const { databaseUrl, token, callers, seed } = options
  const servers = await Promise.all([serve(databaseUrl, token), serve(databaseUrl, token)])
  const balancer = await startBalancer(servers.map(portOf))
  const history = createHistory()
  let retries = 0
  const rest = createRestClient({
    baseUrl: balancer.url,
    token,
    onEvent: ({ type }) => {
      if (type === 'retry') retries++
    },
  })
  try {
    const storm = startStorm({ history, clients: () => [{ rest }], callers, seed })
    const exitCodes = await restartInTurn(options, servers, balancer, storm)
    await storm.stop()
    return { history, retries, exitCodes }
  } finally {
    await Promise.all(servers.map((server) => server.kill('SIGKILL')))
    await balancer.close()
  }
}
