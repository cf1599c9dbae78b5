import { Agent, type OutgoingHttpHeaders, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { plantText, startServerProcess } from '../process/server-process.ts'
import { readPlants } from '../sqlite/sqlite-file.ts'
import { temporaryFolder } from '../temporary-folder.ts'

/** What came of creates of new plants. */
export interface Pressed {
  /** How many had each status; 0 where no response came. */
  readonly statuses: Map<number, number>
  readonly acknowledged: bigint[]
  readonly refused: bigint[]
  /** Of 200 alone, in ms. */
  readonly latencies: number[]
}

interface Load {
  readonly connections: number
  readonly seconds: number
  /** Requests due in a second, whatever the responses; by default each connection sends the next after each. */
  readonly perSecond?: number
  /** Beside those of a good caller, or in place of them. */
  readonly headers?: (id: number) => OutgoingHttpHeaders
}

/** How often due requests are sent. */
const TURN_MS = 2

/** After this no response is waited for any more. */
const PATIENCE_MS = 10_000

/** The share (0 to 1) of the responses came within these ms. */
export function percentile(latencies: readonly number[], share: number): number {
  return latencies.toSorted((one, other) => one - other)[Math.floor(share * latencies.length)] ?? 0
}

/**
 * A server process whose log is silent, with these settings beside the defaults, and callers for it,
 * each of whose creates is of a plant of its own.
 */
export async function startPressedServer(environment: Readonly<Record<string, string>>) {
  const folder = temporaryFolder()
  const server = await startServerProcess({
    folder,
    environment: { PLANT_STORE_LOG_LEVEL: 'silent', ...environment },
  })
  const all: Pressed[] = []
  let nextId = 1

  /** The status of one create; 0 where no response came. */
  function create(agent: Agent, id: number, headers: OutgoingHttpHeaders): Promise<number> {
    return new Promise((resolve) => {
      const sent = request(`${server.url}/plants`, {
        agent,
        method: 'POST',
        signal: AbortSignal.timeout(PATIENCE_MS),
        headers: {
          authorization: `Bearer ${server.token}`,
          'content-type': 'application/json',
          ...headers,
        },
      })
      sent.on('error', () => resolve(0))
      sent.on('response', (response) => {
        response.resume().on('close', () => resolve(response.statusCode ?? 0))
      })
      sent.end(plantText(id))
    })
  }

  async function press(load: Load): Promise<Pressed> {
    const { connections, seconds, perSecond, headers = () => ({}) } = load
    const agent = new Agent({ keepAlive: true, maxSockets: connections })
    const pressed: Pressed = { statuses: new Map(), acknowledged: [], refused: [], latencies: [] }
    all.push(pressed)
    const start = performance.now()
    const elapsed = () => (performance.now() - start) / 1_000

    async function send(): Promise<void> {
      const id = nextId++
      const begin = performance.now()
      const status = await create(agent, id, headers(id))
      pressed.statuses.set(status, (pressed.statuses.get(status) ?? 0) + 1)
      if (status === 200) pressed.latencies.push(performance.now() - begin)
      if (status !== 0) (status === 200 ? pressed.acknowledged : pressed.refused).push(BigInt(id))
    }

    async function sendOnAndOn(): Promise<void> {
      while (elapsed() < seconds) await send()
    }

    const sent: Promise<void>[] = []
    if (perSecond === undefined) {
      sent.push(...Array.from({ length: connections }, sendOnAndOn))
    } else {
      for (; elapsed() < seconds; await sleep(TURN_MS)) {
        while (sent.length < elapsed() * perSecond) sent.push(send())
      }
    }
    await Promise.all(sent)
    agent.destroy()
    return pressed
  }

  return {
    ...server,
    press,
    /** A load that any server can bear, of callers that do nothing wrong: all of it must be stored. */
    async pressGently(seconds: number): Promise<Pressed> {
      const good = await press({ connections: 8, perSecond: 50, seconds })
      expect([...good.statuses.keys()]).toEqual([200])
      return good
    },
    /** Ends the server; fails if what is stored is not what the responses said. */
    async endAndJudge(): Promise<void> {
      await server.end()
      const stored = new Set(readPlants(join(folder, 'data/plants.db')).map(({ id }) => id))
      const lost = all.flatMap(({ acknowledged }) => acknowledged).filter((id) => !stored.has(id))
      const lies = all.flatMap(({ refused }) => refused).filter((id) => stored.has(id))
      expect({ lost, lies }).toEqual({ lost: [], lies: [] })
    },
  }
}
