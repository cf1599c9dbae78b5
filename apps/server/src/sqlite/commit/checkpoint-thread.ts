import { type FileHandle, open } from 'node:fs/promises'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { KnownFile } from '../files/known-files.ts'
import type { CheckpointWorkerData } from './checkpoint-worker.ts'
import { copierStates, createCopierState, moveCopier } from './copier-state.ts'

/** The worker's file stands beside this one and is of the same kind: a source, or built. */
const WORKER = new URL(`./checkpoint-worker${extname(import.meta.url)}`, import.meta.url)

/** What the thread makes while it works is short-lived and little. */
const NURSERY_MB = 1

/** Never closed: closing a database takes the locks away that SQLite has on it in this process. */
const opened: FileHandle[] = []

/**
 * A thread that copies the log into the database beside the commits, and syncs what it has copied;
 * see Checkpoints. It lives from `start` on; where it dies, SQLite makes its own checkpoints again.
 */
export class CheckpointThread {
  readonly state = createCopierState()
  readonly #path: string
  readonly #files: readonly KnownFile[]
  #ended: Promise<void> | undefined
  #database: FileHandle | undefined

  constructor(path: string, files: readonly KnownFile[]) {
    this.#path = path
    this.#files = files
  }

  start(): void {
    const { state } = this
    const workerData: CheckpointWorkerData = { path: this.#path, files: this.#files, state }
    const worker = new Worker(WORKER, {
      workerData,
      resourceLimits: { maxYoungGenerationSizeMb: NURSERY_MB },
    })
    worker.on('message', () => this.#sync())
    worker.on('error', () => {})
    this.#ended = new Promise((resolve) => {
      worker.on('exit', () => {
        Atomics.store(state, 0, copierStates.absent)
        Atomics.notify(state, 0)
        resolve()
      })
    })
  }

  async close(): Promise<void> {
    if (this.#ended === undefined) return
    Atomics.store(this.state, 0, copierStates.closing)
    Atomics.notify(this.state, 0)
    await this.#ended
  }

  /**
   * SQLite syncs the database only when nothing is left to copy, and so between two commits; most of
   * it is on the disk by then. Where this sync fails, so does SQLite's: Linux reports an error to
   * all that have the file open (https://docs.kernel.org/filesystems/vfs.html).
   */
  async #sync(): Promise<void> {
    try {
      if (process.platform === 'linux') {
        this.#database ??= await openForever(this.#path)
        await this.#database.datasync()
      }
    } catch {
      // Node 26 forbids it under --permission; SQLite's own sync takes longer then.
    }
    moveCopier(this.state, copierStates.syncing, copierStates.idle)
  }
}

async function openForever(path: string): Promise<FileHandle> {
  const handle = await open(path)
  opened.push(handle)
  return handle
}
