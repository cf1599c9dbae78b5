import type { RateShare } from './rate.ts'
import {
  AddressCounts,
  createAddressCountsMemory,
  forgetAddressCounts,
} from './shared/address-counts.ts'
import { createHashKey, createKeyedHash, type HashKey } from './shared/keyed-hash.ts'
import { createLoopCountMemory, forgetLoopCount, LoopCount } from './shared/loop-count.ts'
import { createRateMemory, RateBuckets } from './shared/rate-buckets.ts'

/**
 * What the limits of a process count, in memory that all its event loops share; may be posted to a
 * thread. Its size follows from the settings; of what is not used the system keeps no memory.
 */
export interface ProcessCounts {
  readonly loops: number
  readonly hashKey: HashKey
  readonly perLoop: Readonly<Record<PerLoop, SharedArrayBuffer>>
  readonly perAddress: Readonly<Record<PerAddress, SharedArrayBuffer>>
  readonly rates: Readonly<Record<Rates, SharedArrayBuffer>>
  /** One number: see FailedCredentials. */
  readonly failuresOver: SharedArrayBuffer
}

type PerLoop = 'requests' | 'publicRequests' | 'connections' | 'waitingPlants' | 'queuedPlants'
type PerAddress = 'addressConnections' | 'addressRequests'
type Rates = 'tokens' | 'failures'

/** The settings that bound what is counted. */
export interface CountedLimits {
  readonly connectionLimit: number
  readonly requestLimit: number
  readonly addressLimit: number | undefined
  readonly trustedProxies: readonly string[]
  readonly rateLimit: number | undefined
  readonly failedCredentialLimit: number | undefined
}

/** More tokens than any service uses at a time, and callers that fail. */
const TOKENS = 100_000
const CALLERS = 20_000

/** Of what is not limited. */
const NOTHING = 2

/** @param loops event loops that will count, 1 where the main thread serves. */
export function createProcessCounts(loops: number, limits: CountedLimits): ProcessCounts {
  const { addressLimit, trustedProxies, rateLimit, failedCredentialLimit } = limits
  const perLoop = () => createLoopCountMemory(loops)
  const perAddress = (most: number, isUsed: boolean) =>
    createAddressCountsMemory(loops, isUsed ? most : NOTHING)
  const isLimited = addressLimit !== undefined
  return {
    loops,
    hashKey: createHashKey(),
    perLoop: {
      requests: perLoop(),
      publicRequests: perLoop(),
      connections: perLoop(),
      waitingPlants: perLoop(),
      queuedPlants: perLoop(),
    },
    perAddress: {
      addressConnections: perAddress(limits.connectionLimit, isLimited),
      addressRequests: perAddress(limits.requestLimit, isLimited && trustedProxies.length > 0),
    },
    rates: {
      tokens: createRateMemory(rateLimit === undefined ? NOTHING : TOKENS),
      failures: createRateMemory(failedCredentialLimit === undefined ? NOTHING : CALLERS),
    },
    failuresOver: new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT),
  }
}

/** Gives back what a loop held whose thread has ended; what it has spent of rates stays spent. */
export function forgetLoop(counts: ProcessCounts, loop: number): void {
  for (const memory of Object.values(counts.perLoop)) forgetLoopCount(memory, loop)
  for (const memory of Object.values(counts.perAddress)) {
    forgetAddressCounts(memory, counts.loops, loop)
  }
  for (const memory of Object.values(counts.rates)) new RateBuckets(memory, loop).releaseAll()
}

/** The counts of the process, as one of its event loops uses them. */
export interface LoopCounts {
  readonly requests: LoopCount
  readonly publicRequests: LoopCount
  readonly connections: LoopCount
  /** Plants that wait for their outcome. */
  readonly waitingPlants: LoopCount
  /** Plants that wait for a commit to begin. */
  readonly queuedPlants: LoopCount
  readonly addressConnections: AddressCounts
  readonly addressRequests: AddressCounts
  readonly tokenRates: RateShare
  readonly failureRates: RateShare
  readonly failuresOver: Int32Array
}

/** Which loop counts, and where. */
export interface LoopPlace {
  readonly counts: ProcessCounts
  /** From 0; of the loops alive no two may have the same. */
  readonly loop: number
}

/** To be called in the thread of the loop. */
export function joinCounts({ counts, loop }: LoopPlace): LoopCounts {
  const { loops, perLoop, perAddress, rates } = counts
  const hash = createKeyedHash(counts.hashKey)
  const countIn = (memory: SharedArrayBuffer) => new LoopCount(memory, loop)
  const addressesIn = (memory: SharedArrayBuffer) =>
    new AddressCounts(memory, { loops, loop, hash })
  const rateIn = (memory: SharedArrayBuffer) => ({ memory, loop, hash })
  return {
    requests: countIn(perLoop.requests),
    publicRequests: countIn(perLoop.publicRequests),
    connections: countIn(perLoop.connections),
    waitingPlants: countIn(perLoop.waitingPlants),
    queuedPlants: countIn(perLoop.queuedPlants),
    addressConnections: addressesIn(perAddress.addressConnections),
    addressRequests: addressesIn(perAddress.addressRequests),
    tokenRates: rateIn(rates.tokens),
    failureRates: rateIn(rates.failures),
    failuresOver: new Int32Array(counts.failuresOver),
  }
}
