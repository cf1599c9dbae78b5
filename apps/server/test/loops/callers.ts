import { Agent, request } from 'node:http'
import { onTestFinished } from 'vitest'
import type { ServerProcess } from '../process/server-process.ts'

/** A caller with one connection, which is made again when it breaks. */
export interface Caller {
  /** The status of one create. @throws when the connection breaks */
  create(id: bigint | number, headers?: Readonly<Record<string, string>>): Promise<number>
}

/** So many that no loop of two, or of four, is without one. */
export const ENOUGH = 32

export function openCallers({ url, token }: ServerProcess, count = ENOUGH): Caller[] {
  return Array.from({ length: count }, () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    onTestFinished(() => agent.destroy())
    return {
      create: (id, headers) =>
        new Promise((resolve, reject) => {
          const sent = request(`${url}/plants`, {
            agent,
            method: 'POST',
            headers: {
              authorization: `Bearer ${token}`,
              'content-type': 'application/json',
              ...headers,
            },
          })
          sent.on('error', reject)
          sent.on('response', (response) => {
            response.on('error', reject).on('end', () => resolve(response.statusCode ?? 0))
            response.resume()
          })
          sent.end(`{"id":${id},"name":"Fern"}`)
        }),
    }
  })
}

/** What callers were told, each of which creates plants one after the other until `stop`. */
export function press(callers: readonly Caller[], firstId = 1n) {
  let next = firstId
  let isOver = false
  const acknowledged = new Set<bigint>()
  const statuses = new Map<number, number>()
  /** How often the connection of each caller broke. */
  const broken = callers.map(() => 0)

  async function call(caller: Caller, index: number): Promise<void> {
    while (!isOver) {
      const id = next++
      const status = await caller.create(id).catch(() => undefined)
      if (status === undefined) broken[index] = (broken[index] ?? 0) + 1
      else statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (status === 200) acknowledged.add(id)
    }
  }

  const ended = Promise.all(callers.map(call))
  return {
    acknowledged,
    statuses,
    broken,
    async stop() {
      isOver = true
      await ended
    },
    /** Resolves once so many more were acknowledged. */
    async goOn(count: number) {
      const until = acknowledged.size + count
      while (acknowledged.size < until && !isOver) await new Promise(setImmediate)
    },
  }
}
