import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'

const PAGE = Buffer.alloc(4096, 1)

/** Written over and over, as a write-ahead log is: an append would cost more and flatter us. */
const RING_PAGES = 64

export interface SyncedFile {
  /** Writes a page and syncs it. */
  write(): void
  close(): void
}

/** Makes a file of which each write is pwrite(4 KiB) and fsync. */
export function makeSyncedFile(path: string): SyncedFile {
  const descriptor = openSync(path, 'w')
  writeSync(descriptor, Buffer.alloc(RING_PAGES * PAGE.length))
  fsyncSync(descriptor)
  let writes = 0
  return {
    write() {
      writeSync(descriptor, PAGE, 0, PAGE.length, (writes++ % RING_PAGES) * PAGE.length)
      fsyncSync(descriptor)
    },
    close: () => closeSync(descriptor),
  }
}
