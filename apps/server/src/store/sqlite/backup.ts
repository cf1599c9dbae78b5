import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { StoreContents } from './contents.ts'
import { type CopyOptions, copyStore } from './copy.ts'
import { createNewFile } from './new-file.ts'

/**
 * Copies a store, which may be written to meanwhile, into a new file. It appears under its name
 * once it is complete, checked and on stable storage, and never takes the place of another file.
 * @throws StoreRefusedError and the like for the store, the error of open or link for the new file.
 */
export async function backUpStore(
  source: string,
  target: string,
  options: CopyOptions,
): Promise<StoreContents> {
  const copy = createNewFile(
    resolve(target),
    statSync(source, { throwIfNoEntry: false })?.mode ?? 0o600,
  )
  try {
    const contents = await copyStore(source, copy.temporaryPath, options)
    await copy.publish()
    return contents
  } finally {
    copy.discard()
  }
}
