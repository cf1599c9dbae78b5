import { closeSync, openSync, readSync } from 'node:fs'

/** The write-ahead log's own header and that of each frame (https://sqlite.org/fileformat2.html#walformat). */
const LOG_HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24

/** Where both hold the salt; frames of an older log in the same file have another. */
const SALT_BYTES = 8
const LOG_SALT_AT = 16
const FRAME_SALT_AT = 8

function readLogPages(descriptor: number, pageBytes: number): Set<number> {
  const pages = new Set<number>()
  const header = Buffer.alloc(LOG_HEADER_BYTES)
  if (readSync(descriptor, header, { position: 0 }) < LOG_HEADER_BYTES) return pages
  const salt = header.subarray(LOG_SALT_AT, LOG_SALT_AT + SALT_BYTES)
  const frame = Buffer.alloc(FRAME_HEADER_BYTES)
  const step = FRAME_HEADER_BYTES + pageBytes
  for (let position = LOG_HEADER_BYTES; ; position += step) {
    if (readSync(descriptor, frame, { position }) < FRAME_HEADER_BYTES) return pages
    if (!frame.subarray(FRAME_SALT_AT, FRAME_SALT_AT + SALT_BYTES).equals(salt)) return pages
    pages.add(frame.readUInt32BE(0))
  }
}

/**
 * The pages that a write-ahead log holds, by their headers alone. A log has no locks of its own, so
 * that opening and closing it takes none away from SQLite.
 */
export function pagesInLog(log: string, pageBytes: number): Set<number> {
  const descriptor = openSync(log, 'r')
  try {
    return readLogPages(descriptor, pageBytes)
  } finally {
    closeSync(descriptor)
  }
}
