import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { closeSync, fsyncSync, openSync, statSync, truncateSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { needs } from '../../../../packages/client/runtimes/needs.ts'

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

/** A real file system of a few MB. */
export interface SmallDisk {
  /** Where it is mounted for programs that run `under` it. */
  readonly folder: string
  /** The same folder for everybody else. */
  readonly outside: string
  /** What runs a program so that it sees the disk. */
  readonly under: readonly string[]
  /** Leaves this many bytes free, and never more. */
  leave(bytes: number): void
}

const BLOCK = Buffer.alloc(1_024)

/** Writes this many bytes, or until the disk is full; gives how many. */
function write(file: number, bytes: number): number {
  let written = 0
  try {
    for (; written < bytes; written += BLOCK.length) writeSync(file, BLOCK)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
  fsyncSync(file)
  return written
}

function fillDisk(folder: string, bytes: number): void {
  const file = openSync(join(folder, 'filler'), 'a')
  try {
    // A file system gives room back after its first "no space left".
    for (let left = bytes, written = -1; left > 0 && written !== 0; left -= written) {
      written = write(file, left)
    }
  } finally {
    closeSync(file)
  }
}

/** Mounts a disk of ext4 that lasts as long as the test. */
export async function mountSmallBlocks(mebibytes: number, blockBytes: number): Promise<SmallDisk> {
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
  return {
    folder: FOLDER,
    outside,
    under: ['nsenter', '-t', `${holder.pid}`, '--mount', '--preserve-credentials'],
    leave(bytes) {
      fillDisk(outside, Number.POSITIVE_INFINITY)
      const filler = join(outside, 'filler')
      truncateSync(filler, statSync(filler).size - bytes)
      execFileSync('sync', ['-f', outside])
    },
  }
}
