import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Listening, LoadOrder, LoadResult } from '../measurement.ts'
import { type ConnectionOptions, openConnection } from './connection.ts'
import { createLatencies } from './latencies.ts'
import { createRequests } from './requests.ts'

const FAILURES_TOLD = 3

/** After this no answer is waited for any more. */
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
    () => onFailure('answers are missing'),
    () => {},
  )
}

/** Sends creates of new plants over the connections, as fast as they are answered. */
export async function generateLoad(order: LoadOrder): Promise<LoadResult> {
  const latencies = createLatencies()
  const failures: string[] = []
  let acknowledged = 0
  let endsAt = 0
  const onAnswer = (latencyMs: number) => {
    acknowledged++
    if (performance.now() < endsAt) latencies.add(latencyMs)
  }
  const onFailure = (what: string) => {
    if (failures.length < FAILURES_TOLD) failures.push(what)
  }
  const isOver = () => failures.length > 0 || performance.now() >= endsAt
  const connections = await openConnections(order, (target) => {
    const makeRequest = createRequests(target)
    const nextRequest = () => (isOver() ? undefined : makeRequest())
    return { port: target.port, nextRequest, onAnswer, onFailure }
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
    p50Ms: latencies.percentile(0.5),
    p99Ms: latencies.percentile(0.99),
    loadCpuShare: (cpuSeconds() - cpuAtStart) / elapsedSeconds,
    failures,
  }
}
