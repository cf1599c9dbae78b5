import { parentPort, workerData } from 'node:worker_threads'
import { joinSqliteStore } from '../../src/sqlite/join.ts'

/** A thread that joins a store and creates plants, many at a time, each under its own name. */
export interface JoinedThreadData {
  readonly share: unknown
  readonly name: string
  readonly ids: readonly bigint[]
  /** Creates that wait for their outcomes at a time. */
  readonly atOnce: number
}

/** What became of it, in the order of ids: the outcome of each, or the name of its error. */
export interface JoinedThreadReport {
  readonly outcomes: readonly string[]
  readonly batches: number
  /** COMMIT statements that this thread was told of. */
  readonly statements: number
  readonly failure: string | undefined
}

const { share, name, ids, atOnce } = workerData as JoinedThreadData
let batches = 0
let statements = 0
let failure: string | undefined
const store = await joinSqliteStore(share, {
  queueLimit: 10_000,
  allowDataLoss: false,
  observer: {
    itemWaited() {},
    commitEnded() {
      batches++
    },
    commitStatementEnded() {
      statements++
    },
  },
})
void store.failure.then((fault) => {
  failure = fault.message
})

const outcomes: string[] = []
let next = 0
async function createOneByOne(): Promise<void> {
  while (next < ids.length) {
    const place = next++
    const id = ids[place] ?? 0n
    outcomes[place] = await store.plants.create({ id, name }).catch((error) => error.name)
    if (place === 0) parentPort?.postMessage('begun')
  }
}
await Promise.all(Array.from({ length: atOnce }, createOneByOne))
await store.close()
const report: JoinedThreadReport = { outcomes, batches, statements, failure }
parentPort?.postMessage(report)
