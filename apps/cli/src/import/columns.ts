import { type PlantField, plantFieldNames, plantFields } from '../plant-fields.ts'
import { shorten } from './plant-record.ts'

export interface Column {
  /** As in the first line. */
  readonly name: string
  /** Undefined for a column that is ignored. */
  readonly field: PlantField | undefined
}

/** The field of a column, by the name of the column or by its number from 1. */
export type FieldMap = Readonly<Record<string, PlantField>>

/** What a person says of the columns. */
export interface ColumnOptions {
  readonly map?: FieldMap | undefined
  /** Columns that are no field, by name or number. */
  readonly ignore?: readonly string[] | undefined
  /** The id of the first row, where each row gets one by its place, and no column is the id. */
  readonly numberRows?: bigint | undefined
}

/** What is not clear about columns, and the flags that settle it. */
export interface ColumnProblem {
  readonly what: string
  readonly flags?: string
}

/** The columns that a person speaks of, as that person names them; what comes last counts. */
export function saidOf({ map = {}, ignore = [] }: ColumnOptions): readonly Column[] {
  const ignored = ignore.map((name) => ({ name, field: undefined }))
  return [...ignored, ...Object.entries(map).map(([name, field]) => ({ name, field }))]
}

export const ID_TWICE = '--map and --number-rows both say what the id is'

/** Without regard to case and the blanks around it. */
function isSame(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.trim().toLowerCase()
}

/** The field that a name stands for by itself. */
export function fieldNamed(name: string): PlantField | undefined {
  return plantFieldNames.find((field) => isSame(field, name))
}

/** Whether a word is that of a field, or has one letter more or less. */
function isNear(word: string, field: string): boolean {
  const [long, short] = word.length > field.length ? [word, field] : [field, word]
  const shorter = Array.from(long, (_, at) => long.slice(0, at) + long.slice(at + 1))
  return [long, ...shorter].includes(short)
}

/** The field that one of the words of a name nearly is; none for a name that begins with `_`. */
export function fieldNear(name: string): PlantField | undefined {
  const words = name.startsWith('_') ? [] : name.toLowerCase().split(/[^\p{L}\p{N}]+/u)
  return plantFieldNames.find((field) => words.some((word) => isNear(word, field)))
}

/** Where the column is that a person named: by the name to the letter, by the name, by the number. */
function findColumn(names: readonly string[], wanted: string): number {
  const found = [
    names.indexOf(wanted),
    names.findIndex((name) => isSame(name, wanted)),
    names.findIndex((_name, at) => String(at + 1) === wanted.trim()),
  ]
  return found.find((at) => at >= 0) ?? -1
}

/** What is not clear of a field; `open`: the columns that nobody has spoken of. */
function findProblem(
  field: PlantField,
  columns: readonly Column[],
  open: readonly Column[],
): ColumnProblem | undefined {
  const { isRequired } = plantFields[field]
  const own = columns.filter((column) => column.field === field)
  const near = open.find(({ name }) => fieldNamed(name) === undefined && fieldNear(name) === field)
  const number = field === 'id' ? ', or --number-rows 1' : ''
  if (own.length > 1) {
    return { what: `${own.length} columns are the ${field}`, flags: `--map NUMBER=${field}` }
  }
  if (own.length === 1) return undefined
  if (near !== undefined) {
    const name = near.name.trim()
    const ignore = isRequired ? '' : `, or --ignore "${name}"`
    const flags = `--map "${name}=${field}"${number}${ignore}`
    return { what: `${JSON.stringify(shorten(name))} may be the ${field}`, flags }
  }
  if (!isRequired) return undefined
  return { what: `no column is named ${field}`, flags: `--map "COLUMN=${field}"${number}` }
}

/**
 * Which column is which, in any order, and all that is not clear. What a person mapped comes before
 * what columns are called; columns of other names are ignored.
 */
export function mapColumns(
  names: readonly string[],
  options: ColumnOptions,
): { readonly columns: readonly Column[]; readonly problems: readonly ColumnProblem[] } {
  const { numberRows } = options
  const found = saidOf(options).map((said) => ({ ...said, at: findColumn(names, said.name) }))
  const given = new Map(found.map(({ field, at }) => [at, field]))
  given.delete(-1)
  const settled = new Set<unknown>([...given.values(), numberRows === undefined ? '' : 'id'])
  const columns = names.map((name, index) => {
    const own = fieldNamed(name)
    return { name, field: given.has(index) ? given.get(index) : settled.has(own) ? undefined : own }
  })
  const open = columns.filter((_, index) => !given.has(index))
  const lost = found.filter(({ at }) => at < 0).map(({ name }) => JSON.stringify(name))
  const problems = lost.map((wanted): ColumnProblem => ({ what: `it has no column ${wanted}` }))
  if (numberRows !== undefined && columns.some(({ field }) => field === 'id')) {
    problems.push({ what: ID_TWICE })
  }
  const isRow = (column: Column) => column.field === 'id' && /^-?\d+$/.test(column.name)
  if (columns.some(isRow)) {
    const flags = `a first line ${plantFieldNames.join()}`
    problems.push({ what: 'the first line is a row, which would be lost', flags })
  }
  for (const field of plantFieldNames) {
    const isNumbered = field === 'id' && numberRows !== undefined
    const problem = isNumbered ? undefined : findProblem(field, columns, open)
    if (problem !== undefined) problems.push(problem)
  }
  return { columns, problems }
}
