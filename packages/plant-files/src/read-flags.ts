import { type Delimiter, delimiters } from './dialect.ts'
import { type PlantField, plantFieldNames } from './plant-fields.ts'

const delimiterNames: Readonly<Record<string, Delimiter>> = {
  ...Object.fromEntries(delimiters.map((delimiter) => [delimiter, delimiter])),
  comma: ',',
  semicolon: ';',
  tab: '\t',
  '\\t': '\t',
}

/** The delimiter that a flag names: itself, or comma, semicolon or tab. */
export function parseDelimiter(text: string): Delimiter | undefined {
  return Object.hasOwn(delimiterNames, text) ? delimiterNames[text] : undefined
}

/** The column and the field of `Plant No=id`; a column's name may hold an equals sign. */
export function parseMapping(
  text: string,
): readonly [column: string, field: PlantField] | undefined {
  const at = text.lastIndexOf('=')
  const field = plantFieldNames.find((name) => name === text.slice(at + 1).trim())
  return at > 0 && field !== undefined ? [text.slice(0, at), field] : undefined
}
