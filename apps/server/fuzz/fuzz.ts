import { setTimeout as sleep } from 'node:timers/promises'
import { type Input, makeInputs } from './inputs.ts'
import { createGoodPlant, send } from './send.ts'
import { findSmallest } from './smallest.ts'
import { startTarget, type Target } from './target.ts'

/** Inputs after which the server is looked at. */
const BURST = 100

/** How many connections are open at the same time. */
const CALLERS = 20

const MEBIBYTE = 1024 * 1024

/** The resident memory that a server may take, one burst after the other: 200 MiB for each loop. */
export const MEMORY_BOUND_BYTES = 300 * MEBIBYTE

interface Pace {
  /** How long a reply may take. */
  readonly patienceMs: number
  /** What the server says of inputs may come so much later. */
  readonly resolveMs: number
}

const FAST: Pace = { patienceMs: 10_000, resolveMs: 0 }
const EXACT: Pace = { patienceMs: 2_000, resolveMs: 20 }

/** After this a check is reported as small as it is by then. */
const SHRINK_MS = 60_000

export interface FuzzOptions {
  /** How many inputs are sent, in whole bursts. */
  readonly count: number
  readonly seed: number
  /** Of the server's Node: none as it is shipped. */
  readonly nodeFlags?: readonly string[]
  /** Called after each burst. */
  readonly onProgress?: (sent: number) => void
}

/** Inputs, as few and as short as was found, after which something is wrong. */
export interface HealthCheck {
  readonly wrong: string
  readonly inputs: readonly Input[]
  /** With this seed the burst that held them comes first. */
  readonly seed: number
}

export interface Fuzzed {
  readonly sent: number
  readonly check: HealthCheck | undefined
  /** The largest resident memory of the server. */
  readonly peakBytes: number
}

async function sendAll(
  inputs: readonly Input[],
  target: Target,
  patienceMs: number,
): Promise<string | undefined> {
  const waiting = inputs.values()
  const wrong: string[] = []
  async function callOnAndOn(): Promise<void> {
    for (const input of waiting) {
      const found = await send(input, target, patienceMs)
      if (found !== undefined) wrong.push(found)
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, callOnAndOn))
  return wrong[0]
}

/** Sends inputs and gives what is wrong then with the replies or with the server. */
async function judge(
  inputs: readonly Input[],
  target: Target,
  { patienceMs, resolveMs }: Pace,
): Promise<string | undefined> {
  const wrongReply = await sendAll(inputs, target, patienceMs)
  const refused = await createGoodPlant(target, patienceMs)
  // What it says last may come a moment after its port is closed.
  await sleep(refused === undefined ? resolveMs : 100)
  const wrong = target.complaint() ?? wrongReply ?? refused
  if (wrong !== undefined) return wrong
  const bytes = target.memoryBytes()
  return bytes > MEMORY_BOUND_BYTES ? `the server takes ${bytes} bytes of memory` : undefined
}

/** Finds the smallest part of a burst that a server, started anew for it, cannot take. */
async function shrink(
  whole: HealthCheck,
  nodeFlags: readonly string[] | undefined,
): Promise<HealthCheck> {
  const deadline = performance.now() + SHRINK_MS
  let check = whole
  let target = await startTarget(nodeFlags)
  await findSmallest(whole.inputs, async (inputs) => {
    if (performance.now() > deadline) return false
    const found = await judge(inputs, target, EXACT)
    if (found === undefined) return false
    check = { ...whole, wrong: found, inputs }
    await target.stop('SIGKILL')
    target = await startTarget(nodeFlags)
    return true
  })
  await target.stop('SIGKILL')
  return check
}

/** Sends seeded bursts to a server, until something is wrong or enough were sent. */
export async function fuzz(options: FuzzOptions): Promise<Fuzzed> {
  const { count, seed, nodeFlags, onProgress } = options
  const target = await startTarget(nodeFlags)
  let peakBytes = 0
  let sent = 0
  let before: readonly Input[] = []
  try {
    while (sent < count) {
      const burst = makeInputs(seed + sent, BURST)
      const wrong = await judge(burst, target, FAST)
      if (wrong !== undefined) {
        // It may be the burst before that the server speaks of.
        const whole = { wrong, inputs: [...before, ...burst], seed: seed + sent - before.length }
        return { sent: sent + BURST, peakBytes, check: await shrink(whole, nodeFlags) }
      }
      sent += BURST
      before = burst
      peakBytes = target.memoryBytes('VmHWM')
      onProgress?.(sent)
    }
    const exitCode = await target.stop()
    const wrong = `the server ends with ${exitCode} on SIGTERM`
    return { sent, peakBytes, check: exitCode === 0 ? undefined : { wrong, inputs: [], seed } }
  } finally {
    await target.stop('SIGKILL')
  }
}

/** A check as a person reads it, with the way to see it again. */
export function describeCheck({ wrong, inputs, seed }: HealthCheck): string {
  const shown = inputs.map(({ listener, packets, ending }) =>
    [
      `to the listener of the ${listener}, then ${ending}:`,
      ...packets.map((one) => JSON.stringify(one)),
    ].join('\n  '),
  )
  return `${wrong}\nafter:\n${shown.join('\n')}\nAgain: pnpm fuzz --count ${2 * BURST} --seed ${seed}\n`
}
