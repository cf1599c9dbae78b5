import { StoreRefusedError, StoreUnavailableError } from '../store/store.ts'
import { findNodes, type Nodes } from './nodes.ts'
import type { Database } from './pool.ts'

const EVERY_MS = 60_000

/** How old a look at the nodes may be that readiness rests on. */
const FRESH_MS = 5_000

/** Watches the nodes of a distributed database; of one server there is nothing to watch. */
export interface NodeWatch {
  /**
   * Runs work that stores; after its error the nodes are asked again before the next, because one
   * may have come back with other settings.
   * @throws StoreRefusedError, before the work, while a node may lose what is stored
   */
  guard<Result>(work: () => Promise<Result>): Promise<Result>
  /** Why creates are not all stored now, with the name of the node. */
  findObstacle(): Promise<string | undefined>
  close(): void
}

function describeLossy({ faults }: Nodes, place: string): string | undefined {
  const [fault] = faults.filter(({ lossy }) => lossy.length > 0)
  return (
    fault &&
    `the node ${fault.node} of the database ${place} has ${fault.lossy[0]} = off, so 200 would not ` +
      `mean durable. Set it to on there, or start with PLANT_STORE_ALLOW_DATA_LOSS=yes.`
  )
}

/** One that stays the same for a database without nodes. */
const NOTHING: NodeWatch = {
  guard: (work) => work(),
  findObstacle: async () => undefined,
  close() {},
}

function watch(database: Database, first: Nodes, allowDataLoss: boolean): NodeWatch {
  const { pool, place } = database
  let nodes = first
  let seenAt = performance.now()
  let isTrusted = true
  let asking: Promise<void> | undefined

  function look(): Promise<void> {
    isTrusted = true
    asking ??= findNodes(pool)
      .then((found) => {
        nodes = found
        seenAt = performance.now()
      })
      .finally(() => {
        asking = undefined
      })
    return asking
  }

  // What it cannot ask it leaves to creates, which fail by themselves.
  const timer = setInterval(() => look().catch(() => {}), EVERY_MS).unref()

  return {
    async guard(work) {
      if (!isTrusted) await look()
      const lossy = allowDataLoss ? undefined : describeLossy(nodes, place)
      if (lossy !== undefined) throw new StoreRefusedError(lossy)
      try {
        return await work()
      } catch (error) {
        isTrusted = false
        throw error
      }
    },
    async findObstacle() {
      if (!isTrusted || performance.now() - seenAt > FRESH_MS) await look()
      const lossy = allowDataLoss ? undefined : describeLossy(nodes, place)
      return lossy ?? nodes.faults.find(({ obstacle }) => obstacle !== undefined)?.obstacle
    },
    close: () => clearInterval(timer),
  }
}

/**
 * Looks at every node of a distributed database now, each minute, and after each error of a create.
 * @throws StoreRefusedError where 200 would not mean durable on a node, StoreUnavailableError where
 * one does not say whether it would
 */
export async function watchNodes(database: Database, allowDataLoss: boolean): Promise<NodeWatch> {
  const nodes = await findNodes(database.pool)
  if (nodes.names.length === 0) return NOTHING
  const lossy = allowDataLoss ? undefined : describeLossy(nodes, database.place)
  if (lossy !== undefined) throw new StoreRefusedError(lossy)
  const [obstacle] = nodes.faults.flatMap((fault) => fault.obstacle ?? [])
  if (obstacle !== undefined) throw new StoreUnavailableError(obstacle)
  return watch(database, nodes, allowDataLoss)
}
