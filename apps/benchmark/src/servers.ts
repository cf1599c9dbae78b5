import { type Child, startChild } from './child.ts'
import type { Contestant } from './contestants.ts'
import type { Listening, Usage } from './measurement.ts'

/** The processes of a contestant. */
export interface Servers {
  readonly targets: readonly Listening[]
  /** CPU of all of them, memory of the largest. */
  usage(): Promise<Usage>
  /** @throws when one of them ends with a failure. */
  stop(): Promise<void>
}

async function readUsage(children: readonly Child[]): Promise<Usage> {
  const usages = await Promise.all(children.map((child) => child.ask<Usage>('usage')))
  return {
    cpuSeconds: usages.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0),
    maxRssBytes: Math.max(...usages.map(({ maxRssBytes }) => maxRssBytes)),
  }
}

/** Starts a contestant on a database, and resolves once all of its processes listen. */
export async function startServers(contestant: Contestant, address: string): Promise<Servers> {
  const { program, processes, arguments: args } = contestant
  const children = Array.from({ length: processes }, () =>
    startChild(`contestants/${program}`, [address, ...args]),
  )
  const stop = async () => {
    await Promise.all(children.map((child) => child.stop('stop')))
  }
  try {
    const targets = await Promise.all(children.map((child) => child.receive<Listening>()))
    return { targets, usage: () => readUsage(children), stop }
  } catch (error) {
    await stop().catch(() => {})
    throw error
  }
}
