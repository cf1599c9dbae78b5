import type { CreatePlantResult } from '../src/index.ts'
import type { StoredNames } from './real-server.ts'

/** What the client said of one plant. */
export interface Verdict {
  readonly id: bigint
  readonly name: string
  /** How its exchange was broken. */
  readonly about: string
  readonly applied: 'no' | 'maybe' | 'yes'
  readonly code: string
}

export function toVerdict(
  { id, name, about }: Pick<Verdict, 'id' | 'name' | 'about'>,
  result: CreatePlantResult,
): Verdict {
  if (result.ok) return { id, name, about, applied: 'yes', code: 'stored' }
  return { id, name, about, applied: result.error.applied, code: result.error.code }
}

/** Every verdict that the database contradicts, in words. */
export function findLies(verdicts: readonly Verdict[], stored: StoredNames): string[] {
  return verdicts.flatMap(({ id, name, about, applied, code }) => {
    const isStored = stored.get(id) === name
    const isLie = (applied === 'no' && isStored) || (applied === 'yes' && !isStored)
    return isLie ? [`${about}: ${code}, applied ${applied}, but stored: ${isStored}`] : []
  })
}

export function countBy(verdicts: readonly Verdict[]): Record<Verdict['applied'], number> {
  const counts = { no: 0, maybe: 0, yes: 0 }
  for (const { applied } of verdicts) counts[applied]++
  return counts
}

/** Runs work on every item, some at once. */
export async function forEachAtOnce<Item>(
  atOnce: number,
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = [...items]
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}
