import { type Command, InvalidArgumentError, Option } from 'commander'
import { CliError, exitCodes } from '../cli-error.ts'
import { plantFieldNames } from '../plant-fields.ts'
import type { Terminal } from '../terminal.ts'
import type { FieldMap } from './columns.ts'
import { type Input, openInput } from './input.ts'
import { describeDialect, openPlantFile, type PlantFile, type ReadOptions } from './plant-file.ts'
import { PlantFileError } from './plant-record.ts'

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
function readMapping(text: string, earlier: FieldMap): FieldMap {
  const at = text.lastIndexOf('=')
  const field = plantFieldNames.find((name) => name === text.slice(at + 1).trim())
  if (at > 0 && field !== undefined) return { ...earlier, [text.slice(0, at)]: field }
  const fields = plantFieldNames.join(', ')
  throw new InvalidArgumentError(`Try: "COLUMN=FIELD", where FIELD is one of ${fields}`)
}

/** Gives a command the flags that say how a file is written: those of ReadOptions. */
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
    .addOption(
      new Option(
        '--map <column=field>',
        `the field of a column, such as "Plant No=id" or 1=id; repeat it for ${plantFieldNames.join(', ')}`,
      )
        .argParser(readMapping)
        .default({}, 'by the first line'),
    )
}

/**
 * Opens the file of a command line, and says how it is written. A signal ends its reading.
 * @throws CliError where it is no file of plants; its records do so where they cannot be read.
 */
export async function openFile(
  path: string,
  options: ReadOptions,
  terminal: Terminal,
): Promise<PlantFile & { readonly input: Input }> {
  const input = await openInput(path, terminal.input)
  terminal.stop.addEventListener('abort', () => input.stop())
  const describe = (error: unknown) => {
    if (!(error instanceof PlantFileError)) return error
    return new CliError(`${path}: ${error.message}`, exitCodes.usage, { cause: error })
  }
  const opened = openPlantFile(input.chunks(), input.name, options)
  const file = await opened.catch((error: unknown) => {
    throw describe(error)
  })
  terminal.err(`${input.name}: ${describeDialect(file.dialect)}`)
  async function* records() {
    try {
      yield* file.records()
    } catch (error) {
      throw describe(error)
    }
  }
  return { ...file, input, records }
}
