import type { NewPlant } from '@plant-store/contract'
import type { PlantRecord } from '../../plant-files/record.ts'
import { textLengthOf } from '../../store/plant-columns.ts'
import type { PlantStore } from '../../store/store.ts'

/** What became of the records that were read. */
export interface LoadCounts {
  read: number
  created: number
  already_there: number
  id_taken: number
  invalid: number
}

export interface LoadOptions {
  readonly plants: PlantStore
  /** Plants that may be on their way to the store at once. */
  readonly windowSize: number
  /** Counted while it goes on. */
  readonly counts: LoadCounts
  /** Told of each record that is not stored. */
  readonly onRefused: (line: number, reason: string) => void
  readonly signal: AbortSignal
}

/** Characters on their way at once: bounds the memory where texts are long. */
const WINDOW_CHARACTERS = 4_194_304

/** What is on its way to the store. */
interface Window {
  /** Takes note of a plant until `leave`. */
  enter(plant: NewPlant): void
  leave(plant: NewPlant): void
  /** Resolves when there is room for one more. */
  room(): Promise<void>
  /** Resolves when nothing is on its way. */
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
 * Stores records, many at a time so that they share commits. What is stored already is left alone.
 * @throws the first error of the store, once nothing is on its way any more.
 */
export async function loadPlants(
  records: AsyncIterable<PlantRecord>,
  { plants, windowSize, counts, onRefused, signal }: LoadOptions,
): Promise<void> {
  const window = createWindow(windowSize)
  const failures: unknown[] = []

  async function store(plant: NewPlant, line: number): Promise<void> {
    window.enter(plant)
    try {
      const outcome = await plants.create(plant)
      counts[outcome]++
      if (outcome === 'id_taken') onRefused(line, `id ${plant.id} is taken by other content`)
    } catch (error) {
      failures.push(error)
    }
    window.leave(plant)
  }

  try {
    for await (const { line, plant, problem } of records) {
      counts.read++
      if (plant === undefined) {
        counts.invalid++
        onRefused(line, problem)
      } else void store(plant, line)
      await window.room()
      if (failures.length > 0 || signal.aborted) break
    }
  } finally {
    await window.empty()
  }
  if (failures.length > 0) throw failures[0]
}
