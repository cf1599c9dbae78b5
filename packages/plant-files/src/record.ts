import { describeProblems, NewPlant } from '@plant-store/contract'

/** What one record of a plant file holds, and the line that it begins on. */
export type PlantRecord = { readonly line: number } & (
  | { readonly plant: NewPlant; readonly problem?: never }
  | { readonly problem: string; readonly plant?: never }
)

/** A file of which no record can be read; the message says why and what to do. */
export class PlantFileError extends Error {
  override name = 'PlantFileError'
}

/** The problem of a record that is longer than the limit. */
export function describeTooLong(limitBytes: number): string {
  return `is longer than ${limitBytes} bytes; --body-limit-bytes allows more`
}

/** The plant that a value is, or the problem that it has. */
export function parsePlant(
  value: unknown,
): { readonly plant: NewPlant } | { readonly problem: string } {
  const result = NewPlant.safeParse(value)
  return result.success
    ? { plant: result.data }
    : { problem: describeProblems(result.error.issues) }
}
