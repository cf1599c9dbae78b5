import { readdirSync, type Stats, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { WideMode } from '../store/engine.ts'
import { realPathOf } from './files.ts'

const OTHERS_MAY_READ = 0o044
const OTHERS_MAY_WRITE = 0o022

/** On folders that belong to all, such as /tmp (inode(7)). */
const STICKY = 0o1000

function fixOf(path: string, stats: Stats): string {
  if (!stats.isDirectory()) return `chmod 600 ${path}`
  const apart = 'keep the store in a folder of its own'
  const isShared = (stats.mode & STICKY) !== 0 || stats.uid !== process.getuid?.()
  return isShared ? apart : `chmod 700 ${path}, or ${apart}`
}

function lookAt(path: string): WideMode | undefined {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined || (stats.mode & (OTHERS_MAY_READ | OTHERS_MAY_WRITE)) === 0) return
  return {
    path,
    mode: (stats.mode & 0o7777).toString(8).padStart(3, '0'),
    othersMay: (stats.mode & OTHERS_MAY_WRITE) === 0 ? 'read' : 'change',
    fix: fixOf(path, stats),
  }
}

/** The database, and all that stands beside it under its name: log, copies, what was left behind. */
function filesOf(path: string): string[] {
  const folder = dirname(path)
  return readdirSync(folder)
    .filter((name) => name.startsWith(basename(path)))
    .map((name) => join(folder, name))
}

/**
 * Files of a store, and its folder, that users other than their owner may read or change. New ones
 * are for their owner only. Modes are never changed: somebody may share a store with a group on purpose.
 * None on Windows, whose rights Node.js does not read.
 */
export function findWideModes(file: string): WideMode[] {
  if (process.platform === 'win32') return []
  const path = realPathOf(file)
  return [dirname(path), ...filesOf(path)].map(lookAt).filter((wide) => wide !== undefined)
}
