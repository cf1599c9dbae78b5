import type { NewPlant } from '@plant-store/contract'
import { type PlantRecord, type RecordSource, reasonOf } from '@plant-store/plant-files'
import { textLengthOf } from '../../store/plant-columns.ts'
import type { PlantStore } from '../../store/store.ts'

/** How many records were read, and their outcomes. */
export interface LoadCounts {
  read: number
  created: number
  already_there: number
  id_taken: number
  invalid: number
}

/** Why a record is not stored. */
export interface Reject {
  /** A name of the contract's errors. */
  readonly code: 'id_taken' | 'invalid_plant'
  readonly message: string
  /** The same for all records with the same fault. */
  readonly reason: string
}

export interface LoadOptions {
  readonly plants: PlantStore
  /** Most plants that wait for the store at once. */
  readonly windowSize: number
  /** Updated while records are stored. */
  readonly counts: LoadCounts
  /** Called for each record that is not stored. What it throws ends the load. */
  readonly onRejected: (record: RecordSource, reject: Reject) => void
  readonly signal: AbortSignal
}

/** Most characters that wait for the store at once: bounds the memory of long texts. */
const WINDOW_CHARACTERS = 4_194_304

/** The plants that wait for the store. */
interface Window {
  /** Counts a plant until `leave`. */
  enter(plant: NewPlant): void
  leave(plant: NewPlant): void
  /** Resolves when there is room for one more. */
  room(): Promise<void>
  /** Resolves when no plant waits. */
  empty(): Promise<void>
}

function createWindow(size: number): Window {
  let plants = 0
  let characters = 0
  let wake = () => {}

  async function until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }

  return {
    enter(plant) {
      plants++
      characters += textLengthOf(plant)
    },
    leave(plant) {
      plants--
      characters -= textLengthOf(plant)
      wake()
    },
    room: () => until(() => plants < size && characters < WINDOW_CHARACTERS),
    empty: () => until(() => plants === 0),
  }
}

/**
 * Stores records, many at a time so that they share commits. Plants that are stored already stay.
 * @throws the first error of the store, after the last plant that waited.
 */
export async function loadPlants(
  records: AsyncIterable<PlantRecord>,
  { plants, windowSize, counts, onRejected, signal }: LoadOptions,
): Promise<void> {
  const window = createWindow(windowSize)
  const failures: unknown[] = []

  async function store(plant: NewPlant, record: RecordSource): Promise<void> {
    window.enter(plant)
    try {
      const outcome = await plants.create(plant)
      counts[outcome]++
      if (outcome === 'id_taken') {
        const message = `id ${plant.id} is taken by other content`
        onRejected(record, { code: outcome, message, reason: 'id is taken by other content' })
      }
    } catch (error) {
      failures.push(error)
    }
    window.leave(plant)
  }

  try {
    for await (const record of records) {
      counts.read++
      if (record.plant === undefined) {
        counts.invalid++
        const { problem: message, problems } = record
        onRejected(record, { code: 'invalid_plant', message, reason: reasonOf(problems) })
      } else void store(record.plant, record)
      await window.room()
      if (failures.length > 0 || signal.aborted) break
    }
  } finally {
    await window.empty()
  }
  if (failures.length > 0) throw failures[0]
}
