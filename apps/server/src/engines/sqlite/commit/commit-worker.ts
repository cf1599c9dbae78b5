import '../../../process/without-proto.ts'
import { workerData } from 'node:worker_threads'
import { openConnection } from '../database/database.ts'
import { preparePlantInsert } from '../database/plants.ts'
import { createTransactions } from '../database/transactions.ts'
import { requireSameFiles } from '../files/known-files.ts'
import {
  type CommitReply,
  type CommitRequest,
  type CommitWorkerData,
  toPlants,
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
let insertPlants: ReturnType<typeof preparePlantInsert> | undefined

async function commit(request: CommitRequest): Promise<CommitReply> {
  try {
    const outcomes = await write(() => {
      // Within a transaction, so that what is wrong with the table ends one batch and no thread.
      insertPlants ??= preparePlantInsert(database)
      return insertPlants(toPlants(request))
    })
    return { outcomes, statementMs }
  } catch (thrown) {
    // A thread boundary drops the class of an error; its name and its words pass.
    const { name, message, cause } = thrown as Error
    return { error: { name, message, cause: cause instanceof Error ? cause.stack : undefined } }
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
