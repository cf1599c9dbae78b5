import { resolve } from 'node:path'
import type { CopyOptions, StoreContents } from '../../../store/engine.ts'
import { copyStore, holdStore } from '../database/copy.ts'
import { createNewFile } from '../files/new-file.ts'

/**
 * Copies a store, which may be written to meanwhile, into a new file, for its owner only. It appears
 * under its name once it is complete, checked, with the digest of its content and on stable storage,
 * and never takes the place of another file.
 * @throws StoreRefusedError and the like for the store, the error of open or link for the new file.
 */
export async function backUpStore(
  path: string,
  target: string,
  options: CopyOptions,
): Promise<StoreContents> {
  const source = await holdStore(path, options.signal)
  try {
    const copy = createNewFile(resolve(target))
    try {
      await copyStore(source, copy.temporaryPath, options)
      await copy.publish()
      return source.contents
    } finally {
      copy.discard()
    }
  } finally {
    source.database.close()
  }
}
