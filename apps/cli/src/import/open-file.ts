import { NewPlant } from '@plant-store/contract'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { CliError, exitCodes } from '../cli-error.ts'
import { plantFieldNames, plantFields } from '../plant-fields.ts'
import type { Terminal } from '../terminal.ts'
import { askColumns } from './ask-columns.ts'
import type { FieldMap } from './columns.ts'
import { UnclearCsv } from './csv.ts'
import { findEncodingName } from './decode.ts'
import { type Input, openInput } from './input.ts'
import {
  describeDialect,
  FORMATS,
  openPlantFile,
  type PlantFile,
  type ReadOptions,
} from './plant-file.ts'
import { PlantFileError } from './plant-record.ts'

const delimiters = { comma: ',', semicolon: ';', tab: '\t', '\\t': '\t', space: ' ' }
const delimitersByName = new Map(Object.entries(delimiters))

function readDelimiter(text: string): string {
  const delimiter = delimitersByName.get(text) ?? text
  if (/^[^"\r\n]$/u.test(delimiter)) return delimiter
  throw new InvalidArgumentError('Try: comma, semicolon, tab, space, or one character')
}

function readEncoding(label: string): string {
  const name = findEncodingName(label)
  if (name !== undefined) return name
  throw new InvalidArgumentError('Try: windows-1252, windows-1251, koi8-r, gb18030, big5, …')
}

/** A column's name may hold an equals sign, a field's never does. */
function readMapping(text: string, earlier: FieldMap = {}): FieldMap {
  const at = text.lastIndexOf('=')
  const field = plantFieldNames.find((name) => name === text.slice(at + 1).trim())
  if (at > 0 && field !== undefined) return { ...earlier, [text.slice(0, at)]: field }
  const fields = plantFieldNames.join(', ')
  throw new InvalidArgumentError(`Try: "COLUMN=FIELD", where FIELD is one of ${fields}`)
}

function readFirstId(text: string): bigint {
  const { success, data } = NewPlant.shape.id.safeParse(plantFields.id.fromText(text))
  if (success) return data
  throw new InvalidArgumentError('It is the id of the first row. Try: 1')
}

/** Gives a command the flags that say how a file is written: those of ReadOptions. */
export function addFileOptions(command: Command): Command {
  const repeated = (text: string, earlier: readonly string[] = []) => [...earlier, text]
  const format = new Option('--format <format>', 'default: by its name and beginning')
  return command
    .addOption(format.choices(FORMATS))
    .option('--delimiter <character>', 'or comma, tab, space (default: as found)', readDelimiter)
    .option('--encoding <label>', 'any of the Encoding Standard (default: UTF-8)', readEncoding)
    .option('--map <column=field>', 'such as "Plant No=id" or 1=id; repeat it', readMapping)
    .option('--ignore <column>', 'a column that is no field; repeat it', repeated)
    .option('--number-rows <id>', 'give rows ids by their places, from this one', readFirstId)
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
  const input = openInput(path, terminal.input)
  terminal.stop.addEventListener('abort', () => input.stop())
  const describe = (error: unknown) => {
    if (!(error instanceof PlantFileError)) return error
    return new CliError(`${path}: ${error.message}`, exitCodes.usage)
  }
  let file: PlantFile
  try {
    file = await openPlantFile(input.chunks(), input.name, options)
  } catch (error) {
    // A pipe cannot be opened again.
    const isAskable = terminal.isInteractive && input.totalBytes !== undefined
    if (!(error instanceof UnclearCsv && isAskable)) throw describe(error)
    input.stop()
    terminal.err(`${path}: ${error.why}`)
    const asked = await askColumns(error, options, terminal)
    return openFile(path, { ...options, ...asked }, terminal)
  }
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
