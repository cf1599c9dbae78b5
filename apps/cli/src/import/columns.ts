import { type PlantField, plantFieldNames, plantFields } from '../plant-fields.ts'
import { PlantFileError, shorten } from './plant-record.ts'

export interface Column {
  /** As in the first line. */
  readonly name: string
  /** Undefined for a column that is passed over. */
  readonly field: PlantField | undefined
}

/** The field of a column, by the name of the column or by its number from 1. */
export type FieldMap = Readonly<Record<string, PlantField>>

/** Without regard to case and the blanks around it. */
function isSame(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.trim().toLowerCase()
}

/** The field that a name stands for by itself. */
export function fieldNamed(name: string): PlantField | undefined {
  return plantFieldNames.find((field) => isSame(field, name))
}

const MOST_SHOWN = 10

function describeNames(names: readonly string[]): string {
  const shown = names.slice(0, MOST_SHOWN).map((name) => JSON.stringify(shorten(name)))
  const more = names.length > MOST_SHOWN ? [`and ${names.length - MOST_SHOWN} more`] : []
  return [...shown, ...more].join(', ')
}

/** Where the column is that a person named: by the name to the letter, by the name, by the number. */
function findColumn(names: readonly string[], wanted: string): number {
  const exact = names.indexOf(wanted)
  const same = exact < 0 ? names.findIndex((name) => isSame(name, wanted)) : exact
  if (same >= 0) return same
  const index = names.findIndex((_name, at) => String(at + 1) === wanted.trim())
  if (index >= 0) return index
  const all = describeNames(names)
  throw new PlantFileError(`it has no column ${JSON.stringify(wanted)}: its columns are ${all}`)
}

function refuseUnclear(columns: readonly Column[]): void {
  const names = columns.map(({ name }) => name)
  for (const field of plantFieldNames) {
    const own = columns.filter((column) => column.field === field).map(({ name }) => name)
    if (own.length > 1) {
      throw new PlantFileError(
        `${own.length} of its columns are the ${field}: ${describeNames(own)}. Try: --map NUMBER=${field}`,
      )
    }
    if (own.length > 0 || !plantFields[field].isRequired) continue
    throw new PlantFileError(
      `the first line names no column ${field}: its columns are ${describeNames(names)}. Try: --map "COLUMN=${field}", or a first line ${plantFieldNames.join()}`,
    )
  }
}

/**
 * Which column is which, in any order. What a person mapped comes before what columns are called;
 * columns of other names are passed over.
 * @throws PlantFileError where a required field has no column, a field has two, or one is not there.
 */
export function mapColumns(names: readonly string[], map: FieldMap): readonly Column[] {
  const fields = new Map(
    Object.entries(map).map(([wanted, field]) => [findColumn(names, wanted), field]),
  )
  const mapped = new Set(fields.values())
  const columns = names.map((name, index) => {
    const own = fieldNamed(name)
    return { name, field: fields.get(index) ?? (own && !mapped.has(own) ? own : undefined) }
  })
  refuseUnclear(columns)
  return columns
}
