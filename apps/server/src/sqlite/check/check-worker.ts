import '../../process/without-proto.ts'
import { parentPort, workerData } from 'node:worker_threads'
import { connect } from '../database/connect.ts'
import { BUSY_LIMIT_MS } from '../database/transactions.ts'
import { type KnownFile, requireSameFiles } from '../files/known-files.ts'
import { checkStore } from './check-store.ts'

/** What the thread is started with. */
export interface CheckWorkerData {
  readonly path: string
  readonly files: readonly KnownFile[]
}

/** What it sends: plants that it has read, and at its end the damage if there is any. */
export type CheckMessage = { readonly plants: number } | { readonly damage: string | undefined }

/** A thread that checks a store once; any message ends it before. */
const { path, files } = workerData as CheckWorkerData
const stop = new AbortController()
parentPort?.once('message', () => stop.abort())

function send(message: CheckMessage): void {
  parentPort?.postMessage(message)
}

requireSameFiles(files)
const database = connect(path, { readOnly: true, timeout: BUSY_LIMIT_MS })
try {
  send({ damage: await checkStore(database, path, (plants) => send({ plants }), stop.signal) })
} catch (error) {
  if (!stop.signal.aborted) throw error
} finally {
  database.close()
  parentPort?.close()
}
