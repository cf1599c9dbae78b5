import type { MessagePort } from 'node:worker_threads'
import type { NewPlant } from '@plant-store/contract'
import type { OpenOptions } from '../store/engine.ts'
import { GroupCommit } from '../store/group-commit.ts'
import { type CreateOutcome, isCreateOutcome, type Store, type StoreShare } from '../store/store.ts'
import { OpenedThread } from './ask.ts'
import type { CommitEnd } from './commit/commit-messages.ts'
import { CommitPort } from './commit/commit-port.ts'
import { createIntegrity } from './commit/integrity.ts'

/** What a thread needs to join a SQLite store. */
interface SqliteShare {
  /** To the thread that opened the store. */
  readonly opened: MessagePort
  /** To the thread that commits. */
  readonly commits: CommitEnd
  readonly description: string
}

export function shareWith(
  opened: MessagePort,
  commits: CommitEnd,
  description: string,
): StoreShare {
  return {
    data: { opened, commits, description } satisfies SqliteShare,
    transfer: [opened, commits.port],
  }
}

/**
 * The store in a SQLite file that another thread has opened: this one's plants go straight to the
 * thread that commits, everything else to the one that opened it.
 */
export async function joinSqliteStore(data: unknown, options: OpenOptions): Promise<Store> {
  const { opened: openedPort, commits: end, description } = data as SqliteShare
  const { queueLimit, queue, observer } = options
  const port = new CommitPort(end, observer)
  end.port.on('close', () => port.die())
  const integrity = createIntegrity((fault) => commits.fail(fault))
  const opened = new OpenedThread(openedPort, integrity.learn)
  const commits = new GroupCommit<NewPlant, CreateOutcome>({
    queueLimit,
    queue,
    observer,
    isOutcome: isCreateOutcome,
    commit: (plants) => integrity.watch(() => commitAndTell(plants)),
    poll: () => port.poll(),
  })

  async function commitAndTell(plants: readonly NewPlant[]): Promise<CreateOutcome[]> {
    try {
      const outcomes = port.commit(plants)
      port.hold(commits.waiting)
      return await outcomes
    } catch (error) {
      // The one that opened the store is asked whether it is ready.
      opened.tell(error)
      throw error
    }
  }

  return {
    plants: {
      create(plant, timing) {
        const outcome = commits.add(plant, timing)
        port.hold(commits.waiting)
        return outcome
      },
    },
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
