import { parentPort, workerData } from 'node:worker_threads'
import { joinCounts } from '../../../src/http/limits/process-counts.ts'
import { createRate } from '../../../src/http/limits/rate.ts'
import { ADDRESSES, type Hammering, UNIT_NS } from './hammering.ts'

const { what, times, most, witness, ...place } = workerData as Hammering
const counts = joinCounts(place)
const present = new Int32Array(witness)
let granted = 0
let largest = 0

function stay(place: number): void {
  largest = Math.max(largest, Atomics.add(present, place, 1) + 1)
  // The longer it stays, the sooner one too many is seen.
  for (let count = 0; count < 50; count++) Atomics.load(present, place)
  Atomics.sub(present, place, 1)
  granted++
}

function takeAddress(number: number): void {
  const added = counts.addressConnections.add(`192.0.2.${number}`, most)
  if (added === undefined) return
  stay(number)
  counts.addressConnections.remove(added)
}

const rate = createRate({ unitNs: UNIT_NS, burst: most }, counts.tokenRates)

function spendRate(number: number): void {
  if (rate.spend(`key ${number}`, performance.now()).waitMs === 0) granted++
}

function takeRequest(): void {
  if (!counts.requests.take(most)) return
  stay(0)
  counts.requests.leave()
}

const strike = { addresses: takeAddress, rates: spendRate, requests: takeRequest }[what]

parentPort?.postMessage(performance.now())
for (let count = 0; count < times; count++) strike(count % ADDRESSES)
parentPort?.postMessage({ granted, largest })
