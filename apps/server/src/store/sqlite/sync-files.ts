import { mkdirSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { StoreRefusedError } from '../store.ts'

/** Node 26 lets nothing be synced under its permission model, but by SQLite itself. */
export class SyncForbiddenError extends StoreRefusedError {
  override name = 'SyncForbiddenError'
}

/**
 * Brings a file's content, or a folder's list of names, to stable storage. Through a file handle,
 * because the permission model of Node 24 takes only the sync of a bare descriptor away.
 * @throws SyncForbiddenError under the permission model of Node 26
 */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_ACCESS_DENIED') throw error
    throw new SyncForbiddenError(
      `${path} cannot be brought to stable storage: this Node.js forbids it under --permission. ` +
        'Run this command without --permission.',
      { cause: error },
    )
  } finally {
    await handle.close()
  }
}

/** Makes the folder of a file, and those above it, where they are missing. */
export async function createFolderOf(path: string): Promise<void> {
  const firstCreated = mkdirSync(dirname(path), { recursive: true })
  // A new folder survives a power cut only once the folder that lists it is synced.
  if (firstCreated !== undefined) await syncPath(dirname(firstCreated))
}
