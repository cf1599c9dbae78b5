import { Counter, Gauge, type Registry } from '@prometheus-io/client'
import type { CheckObserver } from '../../store/observer.ts'

/** A gauge without a value until it is set first. */
function createUnknownGauge(name: string, help: string, registers: Registry[]): Gauge {
  const gauge = new Gauge({ name, help, registers })
  gauge.remove()
  return gauge
}

/** Measures the checks of what is stored. */
export function createCheckObserver(registers: Registry[]): CheckObserver {
  const checked = new Counter({
    name: 'plant_store_sqlite_checked_plants_total',
    help: 'Plants that the daily check of the SQLite file has read.',
    registers,
  })
  const lastCheck = createUnknownGauge(
    'plant_store_sqlite_last_check_timestamp_seconds',
    'When the daily check last read the whole SQLite file without damage; absent before that.',
    registers,
  )
  const damaged = createUnknownGauge(
    'plant_store_sqlite_damaged',
    '1 if the last check of the SQLite file met damage, else 0; absent before the first has ended.',
    registers,
  )
  return {
    plantsChecked: (count) => checked.inc(count),
    checkEnded(isDamaged) {
      damaged.set(Number(isDamaged))
      if (!isDamaged) lastCheck.set(Date.now() / 1_000)
    },
  }
}
