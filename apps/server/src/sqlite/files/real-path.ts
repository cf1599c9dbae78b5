import { readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { StoreRefusedError } from '../../store/store.ts'
import { codeOf, FORBIDDEN } from './error-codes.ts'
import { describeForbidden } from './open-failure.ts'

/** Whether an error says that there is nothing at a path; any other says that one may not look. */
function isAbsence(error: unknown): boolean {
  return codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR'
}

function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch (error) {
    if (isAbsence(error) || codeOf(error) === 'EINVAL') return undefined
    throw error
  }
}

function followFolder(folder: string): string {
  try {
    return follow(folder)
  } catch (error) {
    // Node's permission model may permit a path and forbid a look at the folders above it.
    if (codeOf(error) === FORBIDDEN) return folder
    throw error
  }
}

function follow(path: string): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    // Links in a circle end here: they are an error of their own.
    if (!isAbsence(error)) throw error
  }
  const folder = followFolder(dirname(path))
  const entry = join(folder, basename(path))
  const target = targetOf(entry)
  return target === undefined ? entry : follow(resolve(folder, target))
}

/**
 * The absolute path of a file without symbolic links, whether the file exists or not. SQLite keeps
 * the write-ahead log beside the file that a link leads to, so only this path leads to the log.
 * @throws StoreRefusedError where a folder cannot be searched or links lead in a circle.
 */
export function realPathOf(file: string): string {
  const path = resolve(file)
  try {
    return follow(path)
  } catch (error) {
    if (codeOf(error) === FORBIDDEN) throw describeForbidden(error, path)
    const reason = (error as Error).message
    throw new StoreRefusedError(`${path} cannot be reached: ${reason}`, {
      code: 'access',
      fix:
        'let the user that runs this program search each folder of it, or name another file in ' +
        'PLANT_STORE_DATABASE_URL',
      cause: error,
    })
  }
}
