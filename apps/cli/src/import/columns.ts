import { type PlantField, plantFieldNames, plantFields } from '../plant-fields.ts'
import { PlantFileError, shorten } from './plant-record.ts'

export interface Column {
  /** As in the first line; `column 3` where there is no such line. */
  readonly name: string
  /** Undefined for a column that is passed over. */
  readonly field: PlantField | undefined
}

/** The field of a column, by the name of the column or by its number from 1. */
export type FieldMap = Readonly<Record<string, PlantField>>

const requiredFields = plantFieldNames.filter((field) => plantFields[field].isRequired)

/** Without regard to case and the blanks around it. */
function normalize(name: string): string {
  return name.trim().toLowerCase()
}

/** The field that a name stands for by itself. */
export function fieldNamed(name: string): PlantField | undefined {
  return plantFieldNames.find((field) => field === normalize(name))
}

/** Where the columns are that a person named: by the name to the letter, by the name, by the number. */
function findColumns(names: readonly string[], wanted: string): readonly number[] {
  const indexesOf = (isSo: (name: string, index: number) => boolean) =>
    names.flatMap((name, index) => (isSo(name, index) ? [index] : []))
  const found = [
    indexesOf((name) => name === wanted),
    indexesOf((name) => normalize(name) === normalize(wanted)),
    indexesOf((_name, index) => String(index + 1) === wanted.trim()),
  ]
  return found.find((indexes) => indexes.length > 0) ?? []
}

function inWords(names: readonly string[]): string {
  return names.map((name) => JSON.stringify(shorten(name))).join(', ')
}

const MOST_SHOWN = 10

function describeColumns(names: readonly string[]): string {
  const more = names.length > MOST_SHOWN ? `, and ${names.length - MOST_SHOWN} more` : ''
  return `its columns are ${inWords(names.slice(0, MOST_SHOWN))}${more}`
}

function describeMap(name: string, field: PlantField): string {
  return `--map ${JSON.stringify(`${name}=${field}`)}`
}

/**
 * Which column is which, in any order. What a person mapped comes before what columns are called;
 * columns of other names are passed over.
 * @throws PlantFileError where a required field has no column, a field has two, or one is not there.
 */
export function mapColumns(names: readonly string[], map: FieldMap): readonly Column[] {
  const fields: (PlantField | undefined)[] = names.map(() => undefined)
  for (const [wanted, field] of Object.entries(map)) {
    const indexes = findColumns(names, wanted)
    if (indexes.length === 0) {
      throw new PlantFileError(
        `it has no column ${JSON.stringify(wanted)}: ${describeColumns(names)}`,
      )
    }
    for (const index of indexes) fields[index] = field
  }
  const mapped = new Set(fields)
  for (const [index, name] of names.entries()) {
    const field = fieldNamed(name)
    if (!mapped.has(field)) fields[index] ??= field
  }
  refuseUnclear(names, fields)
  return names.map((name, index) => ({ name, field: fields[index] }))
}

function refuseUnclear(
  names: readonly string[],
  fields: readonly (PlantField | undefined)[],
): void {
  for (const field of plantFieldNames) {
    const [first, second] = names.filter((_name, index) => fields[index] === field)
    if (first !== undefined && second !== undefined) {
      const number = fields.indexOf(field) + 1
      throw new PlantFileError(
        `two of its columns are the ${field}: ${inWords([first, second])}. Try: ${describeMap(String(number), field)}`,
      )
    }
  }
  const missing = requiredFields.find((field) => !fields.includes(field))
  if (missing !== undefined) {
    const orPlant = names.some((name) => /^-?\d+$/.test(name)) ? ', or --no-header' : ''
    throw new PlantFileError(
      `the first line names no column ${missing}: ${describeColumns(names)}. Try: ${describeMap('Name of the column', missing)}${orPlant}`,
    )
  }
}

/** The columns of a file whose first line is a plant: by their numbers, or in the order of the fields. */
export function numberColumns(count: number, map: FieldMap): readonly Column[] {
  const names = Array.from({ length: count }, (_, index) => `column ${index + 1}`)
  if (Object.keys(map).length > 0) return mapColumns(names, map)
  if (count >= requiredFields.length && count <= plantFieldNames.length) {
    return names.map((name, index) => ({ name, field: plantFieldNames[index] }))
  }
  const flags = requiredFields.map((field, index) => `--map ${index + 1}=${field}`).join(' ')
  throw new PlantFileError(`it has ${count} columns and no line that names them. Try: ${flags}`)
}
