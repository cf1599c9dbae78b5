import { type Child, startChild } from '../child.ts'
import type { ClientMeasurement, ClientOrder, ClientResult } from '../measurement.ts'
import { type ClientContestant, CONCURRENCIES, clientContestants } from './contestants.ts'

const LISTENING = /http:\/\/127\.0\.0\.1:\d+/

/** The just-in-time compiler needs this long, at each concurrency; shorter runs give no figures. */
const WARM_UP_SECONDS = 3

export interface ClientContestOptions {
  readonly rounds: number
  readonly seconds: number
  readonly onRound: (round: number) => void
}

/** Measures each contestant once a round at each concurrency, in processes that live through all. */
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
    const senders = clientContestants.map((contestant): readonly [ClientContestant, Child] => [
      contestant,
      start(contestant.program, contestant.arguments),
    ])
    const measurements: ClientMeasurement[] = []
    // Round 0 warms up.
    for (let round = 0; round <= rounds; round++) {
      onRound(round)
      const lasting = round === 0 ? Math.min(WARM_UP_SECONDS, 3 * seconds) : seconds
      for (const concurrency of CONCURRENCIES) {
        for (const [{ name }, sender] of senders) {
          const order: ClientOrder = { baseUrl, concurrency, seconds: lasting }
          const result = await sender.ask<ClientResult>(order)
          if (round > 0) measurements.push({ round, client: name, concurrency, ...result })
        }
      }
    }
    return measurements
  } finally {
    await Promise.all(children.map((child) => child.stop().catch(() => {})))
  }
}
