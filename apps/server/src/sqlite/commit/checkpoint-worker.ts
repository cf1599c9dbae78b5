import '../../process/without-proto.ts'
import { parentPort, workerData } from 'node:worker_threads'
import { openConnection } from '../database/durable.ts'
import { type KnownFile, requireSameFiles } from '../files/known-files.ts'
import { copierStates, moveCopier, type SharedCopierState } from './copier-state.ts'

/** What the thread is started with. */
export interface CheckpointWorkerData {
  readonly path: string
  readonly files: readonly KnownFile[]
  readonly state: SharedCopierState
}

/** A thread that copies a log into its database each time it is told to, and sends a message then. */
const { path, files, state } = workerData as CheckpointWorkerData
// Opening would make a new file where the one that was checked is gone.
requireSameFiles(files)
const database = openConnection(path)
const checkpoint = database.prepare('PRAGMA wal_checkpoint(PASSIVE)')

function copy(): void {
  try {
    checkpoint.get()
  } catch {
    // On a full disk, for example: the log keeps what was not copied.
  }
  moveCopier(state, copierStates.copying, copierStates.syncing)
  parentPort?.postMessage(undefined)
}

moveCopier(state, copierStates.absent, copierStates.idle)
for (;;) {
  const now = Atomics.load(state, 0)
  if (now === copierStates.closing) break
  if (now === copierStates.copying) copy()
  // Not a message, which the thread that commits could send only at the end of its turn.
  else Atomics.wait(state, 0, now)
}
database.close()
