import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { needs } from '../../../../test/needs.ts'

/** Where a disk is mounted, for the processes of a test alone: with the last of them it is gone. */
const FOLDER = '/mnt'

/** A line of shell that makes and mounts a disk of ext4. */
function mountLine(mebibytes: number, blockBytes: number): string {
  const image = `${FOLDER}/image`
  return (
    `PATH=$PATH:/usr/sbin:/sbin && mount -t tmpfs none ${FOLDER} && ` +
    `truncate -s ${mebibytes}m ${image} && mkfs.ext4 -q -F -m 0 -b ${blockBytes} ${image} && ` +
    `mount -o loop ${image} ${FOLDER}`
  )
}

const canMount = spawnSync('unshare', ['--mount', 'sh', '-c', mountLine(4, 1_024)]).status === 0

export const needsSmallBlocks = needs('ext4 on a loop device, as root', canMount)

/** Mounts a disk of ext4 that lasts as long as the test. */
export async function mountSmallBlocks(mebibytes: number, blockBytes: number) {
  const script = `${mountLine(mebibytes, blockBytes)} && echo mounted && read _`
  const holder = spawn('unshare', ['--mount', 'sh', '-c', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void holder.kill('SIGKILL'))
  await new Promise<void>((resolve, reject) => {
    holder.stdout.once('data', () => resolve())
    holder.once('close', (code) => reject(new Error(`the disk was not mounted: ${code}`)))
  })
  const outside = `/proc/${holder.pid}/root${FOLDER}`
  const filler = join(outside, 'filler')
  return {
    /** Where it is mounted for programs that run `under` it. */
    folder: FOLDER,
    /** The same folder for everybody else. */
    outside,
    /** What runs a program so that it sees the disk. */
    under: ['nsenter', '-t', `${holder.pid}`, '--mount', '--preserve-credentials'],
    /** Leaves this many bytes free, and never more. */
    leave(bytes: number) {
      const blocks = ['if=/dev/zero', 'bs=1k', 'oflag=append', 'conv=notrunc,fsync']
      // A file system gives room back after its first "no space left".
      for (let before = -1; before !== sizeOf(filler); ) {
        before = sizeOf(filler)
        spawnSync('dd', [...blocks, `of=${filler}`])
      }
      truncateSync(filler, sizeOf(filler) - bytes)
      execFileSync('sync', ['-f', outside])
    },
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
