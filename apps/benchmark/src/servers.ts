import { type Child, startChild } from './child.ts'
import { type Contestant, isOurs } from './contestants.ts'
import type { Database } from './databases.ts'
import type { Listening, Usage } from './measurement.ts'

/** The processes of a contestant. */
export interface Servers {
  readonly targets: readonly Listening[]
  /** Of the first process; undefined for a peer, and without operations listener. */
  readonly metricsUrl: string | undefined
  /** CPU of all of them, memory of the largest. */
  usage(): Promise<Usage>
  /** @throws when one of them ends with a failure */
  stop(): Promise<void>
}

const LISTENING = /http:\/\/127\.0\.0\.1:(\d+)/
const METRICS = /http:\S+\/metrics$/m

async function readUsage(children: readonly Child[]): Promise<Usage> {
  const usages = await Promise.all(children.map((child) => child.ask<Usage>('usage')))
  return {
    cpuSeconds: usages.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0),
    mainCpuSeconds: usages.reduce((sum, { mainCpuSeconds }) => sum + mainCpuSeconds, 0),
    maxRssBytes: Math.max(...usages.map(({ maxRssBytes }) => maxRssBytes)),
    rssBytes: Math.max(...usages.map(({ rssBytes }) => rssBytes)),
  }
}

/** Starts a contestant on a database, and resolves once all of its processes listen. */
export async function startServers(
  contestant: Contestant,
  database: Pick<Database, 'url' | 'token'>,
): Promise<Servers> {
  const { program, processes, arguments: own, preload, isPinned } = contestant
  const shared = ['serve', '--database-url', database.url, '--listen', '127.0.0.1:0']
  const args = isOurs(contestant)
    ? [...shared, '--log-level', 'error', ...own]
    : [database.url, ...own]
  const children: Child[] = []
  const targets: Listening[] = []
  let metricsUrl: string | undefined
  const stop = async () => {
    await Promise.all(children.map((child) => child.stop()))
  }
  try {
    // One after the other: only the first server of a database makes a token, and prints it.
    for (let index = 0; index < processes; index++) {
      const child = startChild(program, args, { preload, isPinned })
      children.push(child)
      const greeting = await child.waitFor(LISTENING)
      const shown = /^ {2}(plant_\S+)$/m.exec(greeting)?.[1] ?? targets[0]?.token
      const token = shown ?? database.token ?? 'unused'
      metricsUrl ??= METRICS.exec(greeting)?.[0]
      targets.push({ port: Number(LISTENING.exec(greeting)?.[1]), token })
    }
    return { targets, metricsUrl, usage: () => readUsage(children), stop }
  } catch (error) {
    await stop().catch(() => {})
    throw error
  }
}
