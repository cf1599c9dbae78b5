import type { NewPlant } from '@plant-store/contract'

/** What a column of plants holds in SQL; `null` where an optional field is absent. */
export type ColumnValue = NonNullable<NewPlant[PlantField]> | null

export type PlantField = keyof NewPlant

/** How the values of a field are kept in databases; migrations say the types of columns. */
interface Column<Value> {
  readonly isRequired: undefined extends Value ? false : true
  /** The value that a driver read; integers may come as text, numbers or bigints. */
  readonly fromSql: (read: unknown) => NonNullable<Value>
}

/**
 * Every field of a plant, in the order of columns. Statements, messages between threads, comparison
 * of a repeat and exports follow this list, and the type check demands each field of the
 * contract here. A new field also needs a migration in each engine, or no database opens.
 */
export const plantColumns: { readonly [Field in PlantField]-?: Column<NewPlant[Field]> } = {
  id: { isRequired: true, fromSql: (read) => BigInt(read as string | bigint) },
  name: { isRequired: true, fromSql: String },
  tag: { isRequired: false, fromSql: String },
}

export const plantFields = Object.keys(plantColumns) as readonly PlantField[]

/** All but the id: two plants with the same id conflict unless all of these are the same. */
export const contentFields = plantFields.filter((field) => field !== 'id')

/** Fields as a list in SQL, quoted because a field may be named as a keyword or in capitals. */
export function listColumns(fields: readonly string[] = plantFields): string {
  return fields.map(quoteColumn).join(', ')
}

export function quoteColumn(field: string): string {
  return `"${field}"`
}

/** A plant as a row, in the order of plantFields. */
export function toRow(plant: NewPlant): ColumnValue[] {
  return plantFields.map((field) => plant[field] ?? null)
}

/** The plant of a row that a driver read, by column names; a column that is NULL or lacking is absent. */
export function fromRow(row: Readonly<Record<string, unknown>>): NewPlant {
  const plant: Partial<Record<PlantField, unknown>> = {}
  for (const field of plantFields) {
    const value = row[field] ?? undefined
    if (value !== undefined) plant[field] = plantColumns[field].fromSql(value)
  }
  return plant as NewPlant
}

/** Whether two plants with the same id are the same plant. */
export function hasSameContent(one: NewPlant, other: NewPlant): boolean {
  return contentFields.every((field) => one[field] === other[field])
}

/** UTF-16 units of all that a plant has beside its id: about what it needs in memory. */
export function textLengthOf(plant: NewPlant): number {
  return contentFields.reduce((length, field) => length + String(plant[field] ?? '').length, 0)
}
