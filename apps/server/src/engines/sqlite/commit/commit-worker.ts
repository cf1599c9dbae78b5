import '../../../process/without-proto.ts'
import { workerData } from 'node:worker_threads'
import { openConnection } from '../database/database.ts'
import { prepareRowInsert } from '../database/plants.ts'
import { createTransactions } from '../database/transactions.ts'
import { requireSameFiles } from '../files/known-files.ts'
import {
  type CommitReply,
  type CommitRequest,
  type CommitWorkerData,
  toRows,
  toSentError,
} from './commit-messages.ts'
import { growLog } from './grow-log.ts'

/** A thread that commits batches, one after the other, until it is sent `undefined`. */
const { path, files, port } = workerData as CommitWorkerData
// Opening would make a new file where the one that was checked is gone.
requireSameFiles(files)
const database = openConnection(path)
growLog(database)
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

async function commit(request: CommitRequest): Promise<CommitReply> {
  const { batch } = request
  try {
    const outcomes = await write(() => {
      // Within a transaction, so that what is wrong with the table ends one batch and no thread.
      insertRow ??= prepareRowInsert(database)
      return toRows(request).map(insertRow)
    })
    return { batch, outcomes, statementMs }
  } catch (error) {
    return { batch, error: toSentError(error) }
  }
}

port.on('message', async (request: CommitRequest | undefined) => {
  if (request !== undefined) {
    port.postMessage(await commit(request))
    return
  }
  database.close()
  port.close()
})
