import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Listening, type LoadOrder, type LoadResult, PERCENTILES } from '../measurement.ts'
import { type ConnectionOptions, openConnection } from './connection.ts'
import { createLatencies } from './latencies.ts'
import { createRequests } from './requests.ts'

const FAILURES_REPORTED = 3

/** How long to wait for the last replies. */
const DRAIN_MS = 10_000

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

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

async function failWhenLate(ms: number, signal: AbortSignal, onFailure: (what: string) => void) {
  await sleep(ms, undefined, { signal }).then(
    () => onFailure('replies are missing'),
    () => {},
  )
}

/** Sends creates of new plants over the connections, each once the one before is answered. */
export async function generateLoad(order: LoadOrder): Promise<LoadResult> {
  const latencies = createLatencies()
  const failures: string[] = []
  let acknowledged = 0
  let endsAt = 0
  const onReply = (latencyMs: number) => {
    acknowledged++
    if (performance.now() < endsAt) latencies.add(latencyMs)
  }
  const onFailure = (what: string) => {
    if (failures.length < FAILURES_REPORTED) failures.push(what)
  }
  const isOver = () => failures.length > 0 || performance.now() >= endsAt
  const connections = await openConnections(order, (target) => {
    const makeRequest = createRequests(target)
    const nextRequest = () => (isOver() ? undefined : makeRequest())
    return { port: target.port, nextRequest, onReply, onFailure }
  })
  const cpuAtStart = cpuSeconds()
  const startedAt = performance.now()
  endsAt = startedAt + order.seconds * 1_000
  const finished = new AbortController()
  await Promise.race([
    Promise.all(connections.map(({ run }) => run())),
    failWhenLate(order.seconds * 1_000 + DRAIN_MS, finished.signal, onFailure),
  ])
  finished.abort()
  const elapsedSeconds = (performance.now() - startedAt) / 1_000
  return {
    acknowledged,
    createsPerSecond: latencies.count() / order.seconds,
    latenciesMs: latencies.percentiles(PERCENTILES),
    loadCpuShare: (cpuSeconds() - cpuAtStart) / elapsedSeconds,
    failures,
  }
}
