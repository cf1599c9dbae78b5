import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Listening, LoadOrder, LoadResult } from '../measurement.ts'
import { type ConnectionOptions, openConnection } from './connection.ts'
import { createIds } from './ids.ts'
import { createLatencies } from './latencies.ts'
import { createRequests } from './requests.ts'

// A program: answers each LoadOrder with a LoadResult.

const FAILURES_REPORTED = 3

/** How long to wait for the last replies. */
const DRAIN_MS = 10_000

async function openConnections(
  { targets, connections: count }: LoadOrder,
  optionsFor: (target: Listening) => ConnectionOptions,
) {
  const options = targets.map(optionsFor)
  const connections = Array.from({ length: count }, (_, index) =>
    openConnection(options[index % options.length] as ConnectionOptions),
  )
  await Promise.all(connections.map(({ socket }) => once(socket, 'connect')))
  return connections
}

/** Sends creates of new plants over the connections, each once the one before is answered. */
async function generateLoad(order: LoadOrder): Promise<LoadResult> {
  const { seconds, requests = Number.POSITIVE_INFINITY, parts = 1 } = order
  const latencies = createLatencies(seconds, parts)
  const failures: string[] = []
  let [sent, acknowledged, endsAt] = [0, 0, 0]
  const onReply = (latencyMs: number) => {
    acknowledged++
    if (performance.now() < endsAt) latencies.add(latencyMs)
  }
  const onFailure = (what: string) => {
    if (failures.length < FAILURES_REPORTED) failures.push(what)
  }
  const isOver = () => failures.length > 0 || sent >= requests || performance.now() >= endsAt
  const nextId = createIds(order.ids ?? 'random', order.firstId ?? 1)
  const connections = await openConnections(order, (target) => {
    const makeRequest = createRequests(target, nextId)
    const nextRequest = () => {
      if (isOver()) return undefined
      sent++
      return makeRequest()
    }
    return { port: target.port, nextRequest, onReply, onFailure }
  })
  const cpuAtStart = process.cpuUsage()
  const startedAt = performance.now()
  endsAt = startedAt + seconds * 1_000
  const late = sleep(seconds * 1_000 + DRAIN_MS, 'replies are missing', { ref: false })
  latencies.start()
  await Promise.race([Promise.all(connections.map(({ run }) => run())), late.then(onFailure)])
  const { user, system } = process.cpuUsage(cpuAtStart)
  return {
    acknowledged,
    ...latencies.end(),
    loadCpuShare: (user + system) / 1_000 / (performance.now() - startedAt),
    failures,
  }
}

process.channel?.ref()
process.on('message', async (order: LoadOrder) => {
  process.send?.(await generateLoad(order))
})
process.once('SIGTERM', () => process.exit())
