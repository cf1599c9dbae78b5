import { setTimeout as sleep } from 'node:timers/promises'
import type { MoveRecords, MoveSource } from '../../store/move.ts'
import { operatorNames } from '../../store/operator-names.ts'
import type { PlantStore, Store } from '../../store/store.ts'
import { CommandError, exitCodes } from '../command-error.ts'
import { copyPlants } from './copy-plants.ts'

/** Where plants move to. */
export interface MoveTarget {
  readonly plants: PlantStore
  readonly moves: MoveRecords
  readonly description: string
}

/** Updated while plants move. */
export interface MoveCounts {
  copied: number
  /** Plants of this move, in any run, whose id is taken in the target by other content. */
  conflicts: number
  outage: Error | undefined
}

export interface MoveOptions {
  readonly source: MoveSource
  readonly target: MoveTarget
  readonly counts: MoveCounts
  readonly signal: AbortSignal
  /** Called with the id of each plant that conflicts. */
  readonly onConflict: (id: bigint) => void
}

const SAVE_PERIOD_MS = 1_000
const LOOK_PERIOD_MS = 200

/** An outage that lasts longer than this ends the cut-over, because creates wait for it. */
const LOCKED_OUTAGE_LIMIT_MS = 5_000

/** Copies the next plants; false when there are none. */
async function copyNext(options: MoveOptions, outageLimitMs?: number): Promise<boolean> {
  const { source, target, counts, signal, onConflict } = options
  signal.throwIfAborted()
  const plants = source.read()
  const conflicts = await copyPlants(plants, {
    target: target.plants,
    signal,
    onOutage(error) {
      counts.outage = error
    },
    ...(outageLimitMs !== undefined && { outageLimitMs }),
  })
  counts.copied += plants.length - conflicts.length
  counts.conflicts += conflicts.length
  for (const { id } of conflicts) onConflict(id)
  return plants.length > 0
}

async function save({ source, target, counts: { conflicts } }: MoveOptions): Promise<void> {
  const place = await source.place()
  await target.moves.save(source.id, { place, conflicts })
}

/** Copies every plant that is there, and saves now and then how far it is. */
export async function copyAll(options: MoveOptions): Promise<void> {
  let savedAt = performance.now()
  while (await copyNext(options)) {
    if (performance.now() - savedAt < SAVE_PERIOD_MS) continue
    await save(options)
    savedAt = performance.now()
  }
  await save(options)
}

/** Copies what arrives until it is aborted. @throws the reason then */
export async function follow(options: MoveOptions): Promise<never> {
  for (;;) {
    await sleep(LOOK_PERIOD_MS, undefined, { signal: options.signal })
    await copyAll(options)
  }
}

function refuseConflicts({ counts: { conflicts } }: MoveOptions): void {
  if (conflicts === 0) return
  throw new CommandError(
    `the move is not finished, and the old store serves on: ${conflicts} of its plants have ids that are taken ` +
      'in the other database by other content. Try: find out which are right, take the others away, ' +
      `and move again from the start after ${operatorNames.move} --undo`,
    exitCodes.dataError,
  )
}

/**
 * Cuts over: lets nobody store a plant in the source, copies what has arrived last, and then closes
 * the source to plants for good. Creates wait meanwhile. Whatever fails before leaves the source open.
 * Gives the time that creates had to wait, in ms.
 */
export async function cutOver(options: MoveOptions): Promise<number> {
  const { source, target } = options
  refuseConflicts(options)
  try {
    await source.lock()
    const lockedAt = performance.now()
    while (await copyNext(options, LOCKED_OUTAGE_LIMIT_MS));
    refuseConflicts(options)
    source.finish(target.description)
    return performance.now() - lockedAt
  } finally {
    source.unlock()
  }
}

/** Gives a move the place and the count of an earlier run; false where it begins anew. */
export async function resume({ source, target, counts }: MoveOptions): Promise<boolean> {
  const record = await target.moves.find(source.id)
  if (record === undefined || !source.resume(record.place)) return false
  counts.conflicts = record.conflicts
  return true
}

/** @throws CommandError for a database that plants cannot move to. */
export function toTarget({ plants, moves, description }: Store): MoveTarget {
  if (moves !== undefined) return { plants, moves, description }
  throw new CommandError(
    `move copies to PostgreSQL alone. Try: name its database in ${operatorNames.databaseUrl}`,
    exitCodes.config,
  )
}
