import { once } from 'node:events'
import type { LoadOrder, SendResult } from '../measurement.ts'
import { createTimes } from '../usage.ts'
import { openConnection } from './connection.ts'
import { createIds, createRequests } from './requests.ts'

// A program: answers each LoadOrder with a SendResult, and fails when a response is wrong or missing.

/** How long to wait for the last responses. */
const DRAIN_MS = 10_000

/** Sends creates of new plants over the connections, each once the one before is answered. */
async function generateLoad(order: LoadOrder): Promise<SendResult> {
  const { target, seconds, requests = Number.POSITIVE_INFINITY } = order
  const times = createTimes()
  const makeRequest = createRequests(target, createIds())
  let [sent, plants, endsAt] = [0, 0, 0]
  const options = {
    port: target.port,
    nextRequest() {
      if (performance.now() >= endsAt || sent >= requests) return undefined
      sent++
      return makeRequest()
    },
    onResponse(ms: number) {
      plants++
      if (performance.now() < endsAt) times.add(ms)
    },
  }
  const connections = Array.from({ length: order.connections }, () => openConnection(options))
  await Promise.all(connections.map(({ socket }) => once(socket, 'connect')))
  const cpuAtStart = process.cpuUsage()
  endsAt = performance.now() + seconds * 1_000
  const late = setTimeout(() => process.exit(1), seconds * 1_000 + DRAIN_MS)
  await Promise.all(connections.map(({ run }) => run()))
  clearTimeout(late)
  const { user, system } = process.cpuUsage(cpuAtStart)
  const { count, ...latencies } = times.summary()
  return { plants, perSecond: count / seconds, ...latencies, cpuUs: (user + system) / plants }
}

process.on('message', async (order: LoadOrder) => {
  process.send?.(await generateLoad(order))
})
process.once('SIGTERM', () => process.exit())
