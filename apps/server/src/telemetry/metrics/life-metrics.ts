import { Counter, type Registry } from '@prometheus-io/client'
import type { Ends } from '../ends/ends.ts'
import { endReasons } from '../ends/ends-file.ts'

/** Counters that survive restarts, because they are read from where each run writes how it ended. */
export function addLifeMetrics(registers: Registry[], { totals }: Pick<Ends, 'totals'>): void {
  // The registry reads all metrics in one turn of the event loop, so they share one look.
  let read: ReturnType<typeof totals> | undefined
  function look(): ReturnType<typeof totals> {
    setImmediate(() => {
      read = undefined
    })
    read ??= totals()
    return read
  }

  new Counter({
    name: 'plant_store_ends_total',
    help: 'Ends of servers on this store, by reason: stopped, failed, exception or killed; survives restarts.',
    labelNames: ['reason'],
    registers,
    async collect() {
      const { ends } = await look()
      this.reset()
      if (ends === undefined) return
      for (const reason of endReasons) this.inc({ reason }, ends[reason])
    },
  })
  new Counter({
    name: 'plant_store_unknown_outcomes_total',
    help: 'Replies outcome_unknown: nobody knows whether the plant was stored; survives restarts.',
    registers,
    async collect() {
      const { unknownOutcomes } = await look()
      this.reset()
      this.inc(unknownOutcomes)
    },
  })
}
