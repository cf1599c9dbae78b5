import '../../process/without-proto.ts'
import { parentPort, workerData } from 'node:worker_threads'
import { toSentError } from '../../store/sent-error.ts'
import { OutcomeUnknownError } from '../../store/store.ts'
import { openConnection } from '../database/durable.ts'
import { prepareRowInsert } from '../database/plants.ts'
import { createTransactions } from '../database/transactions.ts'
import { requireSameFiles } from '../files/known-files.ts'
import { Checkpoints } from './checkpoints.ts'
import {
  type CommitWorkerData,
  insertAll,
  type ThreadNotice,
  type ThreadOrder,
} from './commit-messages.ts'
import { CommitQueue } from './commit-queue.ts'
import { growLog } from './grow-log.ts'

/** A thread that commits the batches of all ports that it serves. */
const { path, files, copier } = workerData as CommitWorkerData
// Opening would make a new file where the one that was checked is gone.
requireSameFiles(files)
const database = openConnection(path)
growLog(database)
const checkpoints = new Checkpoints(database, copier, () => notify('start copier'))
let statementMs = 0
const { write } = createTransactions(
  database,
  () => {},
  (durationMs) => {
    statementMs = durationMs
  },
  files,
)
let insertRow: ReturnType<typeof prepareRowInsert> | undefined

function notify(notice: ThreadNotice): void {
  parentPort?.postMessage(notice)
}

const queue = new CommitQueue({
  async commit(requests) {
    const outcomes = await write(() => {
      // Within a transaction, so that what is wrong with the table ends one batch and no thread.
      insertRow ??= prepareRowInsert(database)
      const insert = insertRow
      return requests.map((request) => insertAll(request, insert))
    })
    return { outcomes, statementMs }
  },
  onReplied: () => checkpoints.afterCommit(),
  onFailure(error) {
    if (error instanceof OutcomeUnknownError) notify({ fault: toSentError(error) })
  },
})

parentPort?.on('message', async (order: ThreadOrder) => {
  if (order === 'stop') queue.stop()
  else if (order !== 'close') queue.serve(order.serve)
  else {
    await queue.close()
    database.close()
    parentPort?.close()
  }
})
