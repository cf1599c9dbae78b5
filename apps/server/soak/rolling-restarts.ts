import { createPlantStoreClient, type NewPlantInput } from '@plant-store/client'
import { type Balancer, startBalancer } from '../test/process/balancer.ts'
import { type Served, serve } from './served.ts'

/** Plants that are stored between two restarts, so that each server is ended under load. */
const PLANTS_BETWEEN = 50

export interface RollingOptions {
  /** Migrated, and without plants. */
  readonly databaseUrl: string
  readonly token: string
  readonly restarts: number
  readonly callers: number
  readonly onRestart?: (count: number) => unknown
}

export interface RollingReport {
  /** Every plant that a caller asked for, by its id in decimal digits. */
  readonly sent: ReadonlyMap<string, NewPlantInput>
  /** Calls that failed in spite of the client's retries, as their errors say. */
  readonly failed: readonly string[]
  /** Requests that the client sent again. */
  readonly retries: number
  /** Exit codes of the servers that were asked to end; 0 for each that ended in order. */
  readonly exitCodes: readonly (number | null)[]
}

interface Callers {
  stored(more: number): Promise<void>
  stop(): Promise<Omit<RollingReport, 'exitCodes'>>
}

/** Callers that send plants of their own, one after the other, with the client as it is. */
function startCallers(baseUrl: string, token: string, callers: number): Callers {
  const sent = new Map<string, NewPlantInput>()
  const failed: string[] = []
  const waiting = new Set<{ readonly at: number; readonly resolve: () => void }>()
  let retries = 0
  let stored = 0
  let isStopped = false
  const client = createPlantStoreClient({
    baseUrl,
    token,
    onEvent: ({ type }) => {
      if (type === 'retry') retries++
    },
  })

  async function call(caller: number): Promise<void> {
    for (let count = 0; !isStopped; count++) {
      const plant = { id: BigInt(count * callers + caller), name: `plant ${count} of ${caller}` }
      sent.set(String(plant.id), plant)
      const result = await client.tryCreatePlant(plant)
      if (result.ok) stored++
      else failed.push(String(result.error))
      for (const one of waiting) if (stored >= one.at && waiting.delete(one)) one.resolve()
    }
  }

  const ended = Promise.all(Array.from({ length: callers }, (_, caller) => call(caller)))
  return {
    stored: (more) => new Promise((resolve) => waiting.add({ at: stored + more, resolve })),
    async stop() {
      isStopped = true
      await ended
      return { sent, failed, retries }
    },
  }
}

function portOf({ url }: Served): number {
  return Number(new URL(url).port)
}

async function restartInTurn(
  { databaseUrl, token, restarts, onRestart }: RollingOptions,
  servers: Served[],
  balancer: Balancer,
  callers: Callers,
): Promise<(number | null)[]> {
  const exitCodes: (number | null)[] = []
  for (let count = 0; count < restarts; count++) {
    const place = count % servers.length
    await callers.stored(PLANTS_BETWEEN)
    if (balancer.openTo(place) === 0) throw new Error('the server to end has no callers')
    exitCodes.push((await servers[place]?.kill('SIGTERM')) ?? null)
    servers[place] = await serve(databaseUrl, token)
    balancer.lead(place, portOf(servers[place]))
    onRestart?.(count + 1)
  }
  await callers.stored(PLANTS_BETWEEN)
  return exitCodes
}

/**
 * Restarts two servers behind one address in turn, under load; while one is away the other one has
 * all the callers. Ends with both servers and the balancer gone.
 */
export async function rollServers(options: RollingOptions): Promise<RollingReport> {
  const { databaseUrl, token } = options
  const servers = await Promise.all([serve(databaseUrl, token), serve(databaseUrl, token)])
  const balancer = await startBalancer(servers.map(portOf))
  try {
    const callers = startCallers(balancer.url, token, options.callers)
    const exitCodes = await restartInTurn(options, servers, balancer, callers)
    return { ...(await callers.stop()), exitCodes }
  } finally {
    await Promise.all(servers.map((server) => server.kill('SIGKILL')))
    await balancer.close()
  }
}

/** What of a report and the rows that are stored breaks "0 failed, 0 lost, 0 doubled". */
export function judgeRolling(
  { sent, failed, exitCodes }: RollingReport,
  rows: readonly { readonly id: string; readonly name: string }[],
): Record<'failed' | 'lost' | 'doubled' | 'altered' | 'endedBadly', unknown[]> {
  const stored = Map.groupBy(rows, ({ id }) => id)
  const ids = [...sent.keys()]
  return {
    failed: [...failed],
    lost: ids.filter((id) => !stored.has(id)),
    doubled: [...stored].filter(([, same]) => same.length > 1),
    altered: rows.filter(({ id, name }) => sent.get(id)?.name !== name),
    endedBadly: exitCodes.filter((code) => code !== 0),
  }
}
