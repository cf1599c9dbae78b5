import { listColumns } from '../store/plant-columns.ts'
import { StoreRefusedError, StoreUnavailableError } from '../store/store.ts'
import { explain } from './errors.ts'
import type { Database } from './pool.ts'

/**
 * Proves that a create would be stored by one that stores nothing: its server takes writes, nobody
 * locks the table, and the user has the privileges on every column.
 * @throws StoreUnavailableError with the reason, for operators
 */
export async function proveReady({ connections, tables: { plants } }: Database): Promise<void> {
  const text = `INSERT INTO ${plants} (${listColumns()})
    SELECT ${listColumns()} FROM ${plants} WHERE false`
  try {
    await connections.query({ name: 'prove-ready', text })
  } catch (cause) {
    const { detail, fix = undefined } =
      cause instanceof StoreRefusedError
        ? { detail: cause.message, fix: cause.fix }
        : explain(cause)
    throw new StoreUnavailableError(`the store is not ready: ${detail}`, { cause, fix })
  }
}
