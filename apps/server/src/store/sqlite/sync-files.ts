import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'

/** Brings a file's content, or a folder's list of names, to stable storage. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

export function createFolderOf(path: string): void {
  const firstCreated = mkdirSync(dirname(path), { recursive: true })
  // A new folder survives a power cut only once the folder that lists it is synced.
  if (firstCreated !== undefined) syncPath(dirname(firstCreated))
}
