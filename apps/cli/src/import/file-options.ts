import { type Command, InvalidArgumentError, Option } from 'commander'
import { type PlantField, plantFieldNames } from '../plant-fields.ts'
import type { FieldMap } from './columns.ts'
import type { Format, ReadOptions } from './plant-file.ts'

/** The flags that say how a file is written. */
export interface FileOptions {
  readonly format?: Format
  readonly delimiter?: string
  readonly encoding?: string
  readonly map?: readonly string[]
}

const DELIMITERS_BY_NAME = new Map([
  ['comma', ','],
  ['semicolon', ';'],
  ['tab', '\t'],
  ['\\t', '\t'],
])

function readDelimiter(text: string): string {
  const delimiter = DELIMITERS_BY_NAME.get(text) ?? text
  if (/^[\t\x20-\x7e]$/.test(delimiter) && delimiter !== '"') return delimiter
  throw new InvalidArgumentError('Try: comma, semicolon, tab, or one character')
}

/** The name that TextDecoder has for an encoding. */
function readEncoding(label: string): string {
  try {
    return new TextDecoder(label).encoding
  } catch {
    throw new InvalidArgumentError('Try: utf-8, utf-16le, windows-1252, shift_jis, …')
  }
}

/** A column's name may hold an equals sign, a field's never does. */
function parseMapping(text: string): readonly [column: string, field: PlantField] | undefined {
  const at = text.lastIndexOf('=')
  const field = plantFieldNames.find((name) => name === text.slice(at + 1).trim())
  return at > 0 && field !== undefined ? [text.slice(0, at), field] : undefined
}

function readMapping(text: string, earlier: readonly string[] = []): readonly string[] {
  if (parseMapping(text) !== undefined) return [...earlier, text]
  const fields = plantFieldNames.join(', ')
  throw new InvalidArgumentError(`Try: "COLUMN=FIELD", where FIELD is one of ${fields}`)
}

/** Gives a command the flags that say how a file is written. */
export function addFileOptions(command: Command): Command {
  const only = ['csv', 'jsonl'] as const
  return command
    .addOption(new Option('--format <format>', 'default: by its name and beginning').choices(only))
    .option(
      '--delimiter <character>',
      'between fields of CSV: comma, semicolon, tab, or one character (default: by the first line)',
      readDelimiter,
    )
    .option(
      '--encoding <label>',
      'any that TextDecoder knows (default: UTF-8); a byte order mark counts more',
      readEncoding,
    )
    .option(
      '--map <column=field>',
      `the field of a column, such as "Plant No=id" or 1=id; repeat it for ${plantFieldNames.join(', ')}`,
      readMapping,
    )
}

/** How the file of a command line is to be read. */
export function toReadOptions(options: FileOptions): ReadOptions {
  const { format, delimiter, encoding, map = [] } = options
  const mappings = map.flatMap((text) => {
    const mapping = parseMapping(text)
    return mapping === undefined ? [] : [mapping]
  })
  const columns: FieldMap = Object.fromEntries(mappings)
  return { format, delimiter, encoding, columns }
}
