import { statSync } from 'node:fs'
import { StoreRefusedError } from '../../store/store.ts'

/** Where a restore keeps the new store while it moves the old files away. */
export function unfinishedRestoreOf(path: string): string {
  return `${path}.restoring`
}

/**
 * @throws StoreRefusedError while a restore moves the old files away, or was killed meanwhile: a
 * database without its log would lose plants, and a new store would take their place.
 */
export function refuseUnfinishedRestore(path: string): void {
  const unfinished = unfinishedRestoreOf(path)
  if (statSync(unfinished, { throwIfNoEntry: false }) === undefined) return
  throw new StoreRefusedError(
    `${path} is being restored, or a restore was stopped: there is ${unfinished}. ` +
      `If no restore runs, go on with it. Try: plant-store-server restore BACKUP --set-aside`,
  )
}
