import { accessSync, constants, readdirSync, statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { userName } from '../../../process/user-name.ts'
import { type HealthCheck, healthChecksOf } from '../../../store/health-check.ts'
import { codeOf } from '../../files/error-codes.ts'
import { fixOfError } from './fix-of-error.ts'

const { R_OK, W_OK, X_OK } = constants

/** Codes that deny access; any other, such as ENOENT, says nothing about it. */
const DENIALS = new Set(['EACCES', 'EPERM', 'EROFS'])

/** Why this user may not use what is at a path; undefined where he may, or where it cannot be seen. */
function denialOf(path: string, access: number): NodeJS.ErrnoException | undefined {
  try {
    accessSync(path, access)
    return undefined
  } catch (error) {
    return DENIALS.has(codeOf(error) ?? '') ? (error as NodeJS.ErrnoException) : undefined
  }
}

/** The mode and the owner of a file or folder, for people. */
export function describeOwner(path: string): string {
  const { mode, uid } = statSync(path)
  return `mode ${(mode & 0o7777).toString(8).padStart(3, '0')}, owned by uid ${uid}`
}

/** Whether a folder holds more than a store, so that it must not be given away. */
function isShared(folder: string, path: string): boolean {
  try {
    return readdirSync(folder).some((name) => !name.startsWith(basename(path)))
  } catch {
    return false
  }
}

function fixOfDenial(place: string, path: string): string {
  const user = userName()
  const folder = dirname(path)
  const isOwner = statSync(place).uid === process.getuid?.()
  if (isOwner) return `chmod u+rw${statSync(place).isDirectory() ? 'x' : ''} ${place}`
  if (place !== folder || !isShared(folder, path)) return `as root: chown ${user} ${place}`
  return `a file in a folder of the user's own in PLANT_STORE_DATABASE_URL`
}

function describeDenial(error: NodeJS.ErrnoException, place: string, fix: string): HealthCheck {
  return error.code === 'EROFS'
    ? healthChecksOf('disk').failure(
        `${place} is on a file system that is mounted read-only`,
        fixOfError(error, place) ?? fix,
      )
    : healthChecksOf('permissions').failure(
        `user ${userName()} may not use ${place} (${describeOwner(place)})`,
        fix,
      )
}

/** Node's permission model may forbid a look at folders that the system lets one search. */
function isMissing(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined
  } catch {
    return false
  }
}

/** A folder and those above it, the root first. */
function foldersTo(folder: string): string[] {
  const above = dirname(folder)
  return above === folder ? [folder] : [...foldersTo(above), folder]
}

/** What this user must be allowed to do with each part of the way to a store, and what helps if not. */
function* partsOf(path: string): Generator<readonly [place: string, access: number, fix: string]> {
  const folder = dirname(path)
  let nearest = '/'
  for (const above of foldersTo(folder)) {
    yield [above, X_OK, above === folder ? '' : `as root: chmod o+x ${above}`]
    if (isMissing(above)) break
    nearest = above
  }
  const make = `as root: install -d -m 700 -o ${userName()} ${folder}`
  yield [nearest, W_OK | X_OK, nearest === folder ? '' : make]
  for (const end of ['', '-wal', '-shm']) yield [path + end, R_OK | W_OK, '']
}

/**
 * The first folder or file on the way to a store that this user may not use, as a failure that names
 * the user, the owner and the mode; undefined where none is in the way.
 */
export function findDenial(file: string): HealthCheck | undefined {
  const path = resolve(file)
  for (const [place, access, fix] of partsOf(path)) {
    const denial = denialOf(place, access)
    if (denial !== undefined) return describeDenial(denial, place, fix || fixOfDenial(place, path))
  }
  return undefined
}
