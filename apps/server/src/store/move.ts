import type { NewPlant } from '@plant-store/contract'

/**
 * The way out of a store that servers still write to. From the first time that it is opened, the
 * store records the id of each plant that arrives, in the transaction that stores the plant. So
 * whatever process stores it and whenever one is killed, what arrived is known.
 */
export interface MoveSource {
  /** One line for people: engine, version and place. */
  readonly description: string
  /** Of this move, as long as the store records. */
  readonly id: string
  /** Where the plants have moved; undefined until they have. */
  movedTo(): string | undefined
  /**
   * Goes on reading after a place of an earlier run.
   * Returns false, and reads from the start, where the store is not what it was then.
   */
  resume(place: string): boolean
  /** The next plants that were not read yet; none when all were. Not kept in a transaction. */
  read(): NewPlant[]
  /** Plants that were not read yet; 0 once the move is over, whoever ended it. */
  countLeft(): number
  /** Behind the last plant that was read, once that is on stable storage in this store. */
  place(): Promise<string>
  /** From now until `unlock` or `finish` nobody stores a plant here; creates wait meanwhile. */
  lock(): Promise<void>
  unlock(): void
  /** After `lock`: the store takes no plants from now on, in one commit. `to` is a line for people. */
  finish(to: string): void
  close(): void
}

/** How far a move came into this store. */
export interface MoveRecord {
  /** Of MoveSource: every plant before it is on stable storage here, or conflicts. */
  readonly place: string
  /** Plants whose id is taken here by other content. */
  readonly conflicts: number
}

/** Kept in the target, so that one that loses plants, or is another, never counts as further than it is. */
export interface MoveRecords {
  find(moveId: string): Promise<MoveRecord | undefined>
  save(moveId: string, record: MoveRecord): Promise<void>
  remove(): Promise<void>
}
