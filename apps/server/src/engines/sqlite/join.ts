import type { MessagePort } from 'node:worker_threads'
import type { NewPlant } from '@plant-store/contract'
import type { OpenOptions } from '../../store/engine.ts'
import { GroupCommit } from '../../store/group-commit.ts'
import {
  type CreateOutcome,
  isCreateOutcome,
  type Store,
  type StoreShare,
} from '../../store/store.ts'
import { OpenedThread } from './ask.ts'
import { CommitPort } from './commit/commit-port.ts'
import { createIntegrity } from './commit/integrity.ts'

/** What a thread needs to join a SQLite store. */
interface SqliteShare {
  /** To the thread that opened the store. */
  readonly opened: MessagePort
  /** To the thread that commits. */
  readonly commits: MessagePort
  readonly description: string
}

export function shareWith(
  opened: MessagePort,
  commits: MessagePort,
  description: string,
): StoreShare {
  return {
    data: { opened, commits, description } satisfies SqliteShare,
    transfer: [opened, commits],
  }
}

/**
 * The store in a SQLite file that another thread has opened: this one's plants go straight to the
 * thread that commits, everything else to the one that opened it.
 */
export async function joinSqliteStore(data: unknown, options: OpenOptions): Promise<Store> {
  const { opened: openedPort, commits: commitPort, description } = data as SqliteShare
  const { queueLimit, observer } = options
  const port = new CommitPort(commitPort, observer)
  commitPort.on('close', () => port.die())
  const integrity = createIntegrity((fault) => commits.fail(fault))
  const opened = new OpenedThread(openedPort, integrity.learn)
  const commits = new GroupCommit<NewPlant, CreateOutcome>({
    queueLimit,
    observer,
    isOutcome: isCreateOutcome,
    commit: (plants) => integrity.watch(() => commitAndTell(plants)),
    poll: () => port.poll(),
  })

  async function commitAndTell(plants: readonly NewPlant[]): Promise<CreateOutcome[]> {
    try {
      return await port.commit(plants)
    } catch (error) {
      // The one that opened the store is asked whether it is ready.
      opened.tell(error)
      throw error
    }
  }

  return {
    plants: { create: (plant, timing) => commits.add(plant, timing) },
    tokens: opened.store,
    description,
    failure: integrity.failure,
    isEmpty: opened.store.isEmpty,
    isReady: opened.store.isReady,
    measure: async () => ({ waitingPlants: commits.waiting, queueLimit }),
    async close() {
      await commits.close()
      port.close()
      opened.close()
    },
  }
}
