import {
  type Delimiter,
  delimiters,
  type Encoding,
  encodings,
  type PlantField,
  plantFieldNames,
  type ReadOptions,
} from '@plant-store/plant-files'
import { type Command, Option } from 'commander'
import { CliError } from './cli-error.ts'
import { exitCodes } from './exit-codes.ts'

/** The flags that say how files are written, as they were given. */
export interface FileOptions {
  readonly format?: 'csv' | 'jsonl'
  readonly delimiter?: string
  readonly encoding?: Encoding
  /** False where --no-header was given. */
  readonly header: boolean
  readonly map?: readonly string[]
}

/** The longest row that is read, as UTF-8: 16 times what a server takes unless its operator allows more. */
const LONGEST_ROW_BYTES = 1_048_576

const DELIMITERS_BY_NAME: Readonly<Record<string, Delimiter>> = {
  ...Object.fromEntries(delimiters.map((delimiter) => [delimiter, delimiter])),
  comma: ',',
  semicolon: ';',
  tab: '\t',
  '\\t': '\t',
}

/** Gives a command the flags that say how files are written; `toReadOptions` checks their values. */
export function addFileOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--format <format>', 'how rows are written').choices(['csv', 'jsonl'] as const),
    )
    .option('--delimiter <character>', 'what stands between fields of CSV: comma, semicolon or tab')
    .addOption(new Option('--encoding <encoding>', 'the encoding').choices(encodings))
    .option('--no-header', 'the first line of CSV is a plant, and names no columns')
    .option(
      '--map <column=field>',
      `the field of a column, such as "Plant No=id" or 1=id; repeat it for ${plantFieldNames.join(', ')}`,
      (text: string, earlier: readonly string[] = []) => [...earlier, text],
    )
}

function readDelimiter(text: string): Delimiter {
  const delimiter = DELIMITERS_BY_NAME[text]
  if (delimiter !== undefined) return delimiter
  throw new CliError(`--delimiter cannot be ${text}`, exitCodes.usage, {
    hint: '--delimiter comma, semicolon or tab',
  })
}

/** A column's name may hold an equals sign, a field's never does. */
function readMapping(text: string): readonly [column: string, field: PlantField] {
  const at = text.lastIndexOf('=')
  const field = plantFieldNames.find((name) => name === text.slice(at + 1).trim())
  if (at > 0 && field !== undefined) return [text.slice(0, at), field]
  throw new CliError(`--map cannot be ${text}`, exitCodes.usage, {
    hint: `--map "COLUMN=FIELD", where FIELD is one of ${plantFieldNames.join(', ')}`,
  })
}

/**
 * How the files of a command line are to be read.
 * @throws CliError (`usage`) for a value that cannot be one.
 */
export function toReadOptions(options: FileOptions): ReadOptions {
  const { format, delimiter, encoding, header, map } = options
  return {
    limitBytes: LONGEST_ROW_BYTES,
    ...(format && { format }),
    ...(delimiter !== undefined && { delimiter: readDelimiter(delimiter) }),
    ...(encoding && { encoding }),
    ...(!header && { hasHeader: false }),
    ...(map && { columns: Object.fromEntries(map.map(readMapping)) }),
  }
}
