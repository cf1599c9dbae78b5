import type { NewPlant } from '@plant-store/contract'
import { openDatabase } from '@plant-store/server/engines/sqlite/database/database.js'
import { preparePlantInsert } from '@plant-store/server/engines/sqlite/database/plants.js'
import { createTransactions } from '@plant-store/server/engines/sqlite/database/transactions.js'
import type { GroupCommitOptions } from '@plant-store/server/store/group-commit.js'
import type { CreateOutcome } from '@plant-store/server/store/store.js'
import { block } from './block.ts'

/** Told how long the oldest plant has waited already. */
export type CommitInTime = GroupCommitOptions<NewPlant, CreateOutcome>['commit']

export type Commit = (plants: readonly NewPlant[]) => Promise<CreateOutcome[]>

/** Opens the server's database for commits on the calling thread, each `delayMs` longer. */
export async function openCommit(path: string, delayMs: number): Promise<Commit> {
  const database = await openDatabase(path)
  const insertPlants = preparePlantInsert(database)
  const transactions = createTransactions(database, (fault) => {
    throw fault
  })
  return (plants) =>
    transactions.write(() => {
      const outcomes = insertPlants(plants)
      block(delayMs)
      return outcomes
    })
}
