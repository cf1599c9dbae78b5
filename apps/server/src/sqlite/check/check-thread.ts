import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { StoreUnavailableError } from '../../store/store.ts'
import type { KnownFile } from '../files/known-files.ts'
import type { CheckMessage, CheckWorkerData } from './check-worker.ts'

/** The worker's file stands beside this one and is of the same kind: a source, or built. */
const WORKER = new URL(`./check-worker${extname(import.meta.url)}`, import.meta.url)

/** Checks a store in a thread of its own, which lives as long as one check. */
export interface CheckThread {
  check(onPart: (plants: number) => void): Promise<string | undefined>
  /** Ends a check that runs, and begins no other. */
  close(): Promise<void>
}

function run(worker: Worker, onPart: (plants: number) => void): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    worker.on('message', (message: CheckMessage) => {
      if ('plants' in message) onPart(message.plants)
      else resolve(message.damage)
    })
    worker.on('error', reject)
    worker.on('exit', () => reject(new StoreUnavailableError('the check was stopped')))
  })
}

export function createCheckThread(path: string, files: readonly KnownFile[]): CheckThread {
  let worker: Worker | undefined
  let ended: Promise<unknown> = Promise.resolve()
  let isClosed = false
  return {
    async check(onPart) {
      if (isClosed) throw new StoreUnavailableError('the store is closed')
      const workerData: CheckWorkerData = { path, files }
      const started = new Worker(WORKER, { workerData })
      worker = started
      ended = new Promise((resolve) => started.once('exit', resolve))
      return await run(started, onPart)
    },
    async close() {
      isClosed = true
      worker?.postMessage('stop')
      await ended
    },
  }
}
