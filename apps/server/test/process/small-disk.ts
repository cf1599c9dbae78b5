import { spawn, spawnSync } from 'node:child_process'
import { closeSync, openSync, writeSync } from 'node:fs'
import { onTestFinished } from 'vitest'
import { needs } from '../../../../packages/client/hostile/needs.ts'

const NAMESPACE = ['--user', '--map-root-user', '--mount']

/** A disk of a test's own is mounted where only its processes see it, which needs no rights. */
export const needsSmallDisk = needs(
  'user namespaces (unshare, nsenter)',
  spawnSync('unshare', [...NAMESPACE, 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0,
)

/** A real file system of a few MB. */
export interface SmallDisk {
  /** Where it is mounted for programs that run `under` it. */
  readonly folder: string
  /** The same folder for everybody else. */
  readonly outside: string
  /** What runs a program so that it sees the disk. */
  readonly under: readonly string[]
  /** Writes until nothing is left, or this many bytes, to a file. */
  fill(bytes?: number): void
}

/** Mounts a disk that lasts as long as the test. */
export async function mountSmallDisk(mebibytes: number): Promise<SmallDisk> {
  const folder = '/mnt'
  const script = `mount -t tmpfs -o size=${mebibytes}m none ${folder} && echo mounted && read _`
  const holder = spawn('unshare', [...NAMESPACE, 'sh', '-c', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void holder.kill('SIGKILL'))
  await new Promise<void>((resolve, reject) => {
    holder.stdout.once('data', () => resolve())
    holder.once('close', (code) => reject(new Error(`the disk was not mounted: ${code}`)))
  })
  const outside = `/proc/${holder.pid}/root${folder}`
  return {
    folder,
    outside,
    under: ['nsenter', '-t', String(holder.pid), '--user', '--mount', '--preserve-credentials'],
    fill(bytes = Number.POSITIVE_INFINITY) {
      const file = openSync(`${outside}/filler`, 'a')
      const page = Buffer.alloc(4096)
      try {
        for (let written = 0; written < bytes; written += page.length) writeSync(file, page)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      } finally {
        closeSync(file)
      }
    },
  }
}
