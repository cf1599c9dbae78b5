import { Gauge, type Registry } from '@prometheus-io/client'
import type { Store } from '../../store/store.ts'

/** Says when the last good backup of the store ended; absent where none is known. */
export function addBackupMeasures(registers: Registry[], store: Pick<Store, 'measure'>): void {
  new Gauge({
    name: 'plant_store_last_backup_timestamp_seconds',
    help: 'When the last good backup by `backup` ended, in seconds since 1970; absent before the first.',
    registers,
    async collect() {
      const { sqlite } = await store.measure().catch(() => ({ sqlite: undefined }))
      if (sqlite?.lastBackupAt === undefined) this.remove()
      else this.set(sqlite.lastBackupAt / 1_000)
    },
  })
}
