import '../process/without-proto.ts'
import { type MessagePort, workerData } from 'node:worker_threads'
import { growLog, openConnection } from './connect.ts'
import { type KnownFile, requireSameFiles } from './known-files.ts'
import { type CommitRequest, type CommitResponse, insertAll, toSentError } from './messages.ts'
import { prepareRowInsert } from './plants.ts'
import { createTransactions } from './transactions.ts'

/** What the thread is started with. */
export interface CommitWorkerData {
  readonly path: string
  readonly files: readonly KnownFile[]
  /** Takes each batch when the one before has its response; `close` ends the thread. */
  readonly port: MessagePort
}

const { path, files, port } = workerData as CommitWorkerData
// Opening would make a new file where the one that was checked is gone.
requireSameFiles(files)
const database = openConnection(path)
growLog(database)
let statementMs = 0
const onCommit = (durationMs: number) => {
  statementMs = durationMs
}
const { write } = createTransactions(database, () => {}, onCommit, files)
let insertRow: ReturnType<typeof prepareRowInsert> | undefined

async function commit(request: CommitRequest): Promise<CommitResponse> {
  const { batch } = request
  try {
    const outcomes = await write(() => {
      // Within a transaction, so that what is wrong with the table ends one batch and no thread.
      insertRow ??= prepareRowInsert(database)
      return insertAll(request, insertRow)
    })
    return { batch, outcomes, statementMs }
  } catch (error) {
    return { batch, error: toSentError(error as Error) }
  }
}

port.on('message', async (message: CommitRequest | 'close') => {
  if (message !== 'close') {
    port.postMessage(await commit(message))
    return
  }
  database.close()
  port.close()
})
