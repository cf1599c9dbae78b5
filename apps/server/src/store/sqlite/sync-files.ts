import { mkdirSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Brings a file's content, or a folder's list of names, to stable storage. Through a file handle,
 * because Node's permission model takes the sync of a bare descriptor away.
 */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
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
