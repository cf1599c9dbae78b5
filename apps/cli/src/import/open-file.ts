import { CliError } from '../cli-error.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Terminal } from '../terminal.ts'
import { type FileOptions, toReadOptions } from './file-options.ts'
import { type Input, InputStopped, openInput } from './input.ts'
import { describeDialect, openPlantFile, type PlantFile } from './plant-file.ts'
import { PlantFileError } from './plant-record.ts'

/** What ended the reading of a file, for people; any other error as it is. */
export function describeReading(error: unknown, path: string): unknown {
  if (error instanceof InputStopped) return new CliError('interrupted', exitCodes.interrupted)
  if (!(error instanceof PlantFileError)) return error
  return new CliError(`${path}: ${error.message}`, exitCodes.usage, { cause: error })
}

/**
 * Opens the file of a command line, and says how it is written. A signal ends its reading.
 * @throws CliError where it is no file of plants
 */
export async function openFile(
  path: string,
  options: FileOptions,
  terminal: Terminal,
): Promise<PlantFile & { readonly input: Input }> {
  const input = await openInput(path, terminal.input)
  terminal.stop.addEventListener('abort', () => input.stop())
  try {
    const file = await openPlantFile(input.chunks(), input.name, toReadOptions(options))
    terminal.err(`${input.name}: ${describeDialect(file.dialect)}`)
    return { ...file, input }
  } catch (error) {
    throw describeReading(error, path)
  }
}
