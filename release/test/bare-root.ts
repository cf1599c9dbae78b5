import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Whether this machine lets a test have a root of its own. */
export const CAN_CHANGE_ROOT = process.platform === 'linux' && process.getuid?.() === 0

/** Where Debian's busybox-static is: a shell that needs no library. */
export const BUSYBOX = '/bin/busybox'

export const hasBusybox = existsSync(BUSYBOX) && spawnSync('ldd', [BUSYBOX]).status !== 0

/** The files that a program is linked with. */
export function librariesOf(program: string): string[] {
  const listed = execFileSync('ldd', [program], { encoding: 'utf8' })
  return Array.from(listed.matchAll(/(\/\S+) \(0x/g), ([, path = '']) => path)
}

function addFile(root: string, path: string): void {
  mkdirSync(join(root, dirname(path)), { recursive: true })
  cpSync(realpathSync(path), join(root, path))
}

/**
 * Makes a folder a root that has nothing but a shell, what the launcher calls, and the libraries
 * that they and Node.js need.
 */
export function fillRoot(root: string, node: string): void {
  const programs = ['/bin/sh', '/bin/uname', '/bin/readlink']
  const libraries = [...programs, node].flatMap(librariesOf)
  for (const path of new Set([...programs, ...libraries])) addFile(root, path)
}

/** Makes a folder a root without glibc, as Alpine is. */
export function fillRootWithoutGlibc(root: string): void {
  for (const name of ['sh', 'uname', 'readlink']) {
    mkdirSync(join(root, 'bin'), { recursive: true })
    cpSync(BUSYBOX, join(root, 'bin', name))
  }
}
