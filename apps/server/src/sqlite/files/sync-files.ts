import { mkdirSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { StoreRefusedError } from '../../store/store.ts'
import { codeOf, FORBIDDEN } from './error-codes.ts'

/** Node 26 lets nothing be synced under its permission model, but by SQLite itself. */
export class SyncForbiddenError extends StoreRefusedError {
  override name = 'SyncForbiddenError'
}

const IS_WINDOWS = process.platform === 'win32'

/**
 * Brings a file's content, or a folder's list of names, to stable storage. Through a file handle,
 * because the permission model of Node 24 takes only the sync of a bare descriptor away. Windows syncs
 * only what is open for writing, and no folder: NTFS keeps its own log of names.
 * @throws SyncForbiddenError under the permission model of Node 26
 */
export async function syncPath(path: string): Promise<void> {
  if (IS_WINDOWS && statSync(path).isDirectory()) return
  const handle = await open(path, IS_WINDOWS ? 'r+' : 'r')
  try {
    await handle.sync()
  } catch (error) {
    if (codeOf(error) !== FORBIDDEN) throw error
    throw new SyncForbiddenError(
      `${path} cannot be brought to stable storage: this Node.js forbids it under --permission`,
      { fix: 'this command without --permission', cause: error },
    )
  } finally {
    await handle.close()
  }
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another process may have made it meanwhile.
    if (codeOf(error) !== 'EEXIST') throw error
  }
}

async function createFolder(folder: string): Promise<void> {
  if (statSync(folder, { throwIfNoEntry: false }) !== undefined) return
  try {
    makeFolder(folder)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
    await createFolder(dirname(folder))
    makeFolder(folder)
  }
  // A new folder survives a power cut only once the folder that lists it is synced.
  await syncPath(dirname(folder))
}

/**
 * Makes the missing folders of a file, for their owner only. One at a time, because Node's recursive
 * mkdir never ends on a file system that takes no folders, such as /proc.
 */
export async function createFolderOf(path: string): Promise<void> {
  await createFolder(dirname(path))
}
