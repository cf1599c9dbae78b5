import { type Child, startChild } from '../child.ts'
import type { ClientMeasurement, ClientOrder, ClientResult } from '../measurement.ts'
import { type ClientContestant, CONCURRENCIES, clientContestants } from './contestants.ts'

const LISTENING = /http:\/\/127\.0\.0\.1:\d+/

/** The just-in-time compiler needs this long, at each concurrency; shorter runs give no figures. */
const WARM_UP_SECONDS = 3

/** They take turns this long, so that what disturbs the machine reaches all of them alike. */
const TURN_SECONDS = 0.25

export interface ClientContestOptions {
  readonly rounds: number
  readonly seconds: number
  /** Called before each round; 0 warms up. */
  readonly onRound: (round: number) => void
}

type Sender = readonly [ClientContestant, Child]

/** What each did in all its turns. */
async function takeTurns(
  senders: readonly Sender[],
  { seconds, ...order }: ClientOrder,
): Promise<ClientResult[]> {
  const turns = Math.max(1, Math.round(seconds / TURN_SECONDS))
  const results = senders.map(() => ({ creates: 0, seconds: 0, cpuSeconds: 0 }))
  for (let turn = 0; turn < turns; turn++) {
    for (const [index, [, sender]] of senders.entries()) {
      const result = await sender.ask<ClientResult>({ ...order, seconds: seconds / turns })
      const sum = results[index]
      if (sum === undefined) continue
      sum.creates += result.creates
      sum.seconds += result.seconds
      sum.cpuSeconds += result.cpuSeconds
    }
  }
  return results
}

async function measureRound(
  round: number,
  senders: readonly Sender[],
  order: Omit<ClientOrder, 'concurrency'>,
): Promise<ClientMeasurement[]> {
  const measurements: ClientMeasurement[] = []
  for (const concurrency of CONCURRENCIES) {
    const results = await takeTurns(senders, { ...order, concurrency })
    results.forEach(({ creates, seconds, cpuSeconds }, index) => {
      measurements.push({
        round,
        client: senders[index]?.[0].name ?? '',
        concurrency,
        createsPerSecond: creates / seconds,
        cpuUs: (cpuSeconds / creates) * 1e6,
      })
    })
  }
  return measurements
}

/** Measures each contestant in each round at each concurrency, in processes that live through all. */
export async function holdClientContest({
  rounds,
  seconds,
  onRound,
}: ClientContestOptions): Promise<ClientMeasurement[]> {
  const children: Child[] = []
  const start = (program: string, args: readonly string[] = []) => {
    const child = startChild(program, args)
    children.push(child)
    return child
  }
  try {
    const [baseUrl = ''] =
      LISTENING.exec(await start('./client/server.ts').waitFor(LISTENING)) ?? []
    const senders = clientContestants.map((one): Sender => [one, start(one.program, one.arguments)])
    onRound(0)
    await measureRound(0, senders, { baseUrl, seconds: Math.min(WARM_UP_SECONDS, 3 * seconds) })
    const measurements: ClientMeasurement[] = []
    for (let round = 1; round <= rounds; round++) {
      onRound(round)
      measurements.push(...(await measureRound(round, senders, { baseUrl, seconds })))
    }
    return measurements
  } finally {
    await Promise.all(children.map((child) => child.stop().catch(() => {})))
  }
}
