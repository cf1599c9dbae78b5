import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, statfsSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { needs } from '../../../../packages/client/hostile/needs.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const BYTES = 41_943_040

/** Makes a file system of its own in a file, and gives the folder that shows it; undefined where this user may not. */
function mount(folder: string, blockBytes: number): string | undefined {
  const image = join(folder, 'image')
  const disk = join(folder, 'disk')
  writeFileSync(image, '')
  truncateSync(image, BYTES)
  mkdirSync(disk)
  const programs = [
    ['mkfs.ext4', '-q', '-F', '-m', '0', '-b', String(blockBytes), image],
    ['mount', '-o', 'loop', image, disk],
  ] as const
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` }
  for (const [program, ...args] of programs) {
    if (spawnSync(program, args, { env }).status !== 0) return undefined
  }
  return disk
}

function unmount(disk: string): void {
  execFileSync('umount', ['--lazy', disk])
}

/** A folder on a disk of 40 MiB. */
export function makeSmallDisk(blockBytes: number): string {
  const disk = mount(temporaryFolder(), blockBytes)
  if (disk === undefined) throw new Error('no disk could be made')
  onTestFinished(() => unmount(disk))
  return disk
}

function canMount(): boolean {
  const folder = execFileSync('mktemp', ['-d'], { encoding: 'utf8' }).trim()
  const disk = mount(folder, 4_096)
  if (disk !== undefined) unmount(disk)
  execFileSync('rm', ['-r', folder])
  return disk !== undefined
}

/** Whether disks can be made here: as root, with loop devices. */
export const needsDisks = needs('ext4 on a loop device, as root', canMount())

/** Leaves about so many bytes free on a disk, and never more. */
export function fill(disk: string, freeBytes: number): void {
  const filler = join(disk, 'filler')
  const { bavail, bsize } = statfsSync(disk)
  // A file system gives room back after its first "no space left".
  for (let free = bavail * bsize; free > 0; free = statfsSync(disk).bavail * bsize) {
    spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=1k', 'oflag=append', 'conv=notrunc,fsync'])
    execFileSync('sync', ['-f', disk])
  }
  truncateSync(filler, statSync(filler).size - freeBytes)
  execFileSync('sync', ['-f', disk])
}
