import {
  describeDialect,
  openPlantFile,
  PlantFileError,
  type ReadOptions,
} from '@plant-store/plant-files'
import type { Command } from 'commander'
import { CliError } from '../cli-error.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { addFileOptions, type FileOptions, toReadOptions } from '../file-options.ts'
import { type Input, openInput } from '../import/input.ts'
import { bold, type Terminal } from '../terminal.ts'
import { createCheckReport } from './check-report.ts'

interface CheckOptions extends FileOptions {
  readonly all?: true
}

const EXAMPLES = `
Examples:
  plant-store check plants.csv
  plant-store check --delimiter semicolon --map "Plant No=id" export.csv
  zcat plants.jsonl.gz | plant-store check - --all`

const SHOWN = 20

async function checkRecords(
  input: Input,
  options: ReadOptions,
  shown: number,
  terminal: Terminal,
): Promise<ExitCode> {
  const { dialect, records } = await openPlantFile(input.chunks(), input.name, options)
  terminal.err(bold(input.name), `: ${describeDialect(dialect)}`)
  for (const { question, flag } of dialect.doubts) {
    terminal.err(`  In doubt: ${question}. Try: ${flag}`)
  }
  const report = createCheckReport(input.name, shown, terminal.out)
  for await (const record of records()) report.add(record)
  return report.end() ? exitCodes.ok : exitCodes.rejected
}

/** Checks one file and returns how it fared; a file that cannot be read is reported, not thrown. */
async function checkFile(
  path: string,
  options: ReadOptions,
  shown: number,
  terminal: Terminal,
): Promise<ExitCode> {
  try {
    const input = await openInput(path, terminal.input)
    const stop = () => input.stop()
    terminal.stop.addEventListener('abort', stop)
    try {
      return await checkRecords(input, options, shown, terminal)
    } finally {
      terminal.stop.removeEventListener('abort', stop)
      await input.close()
    }
  } catch (error) {
    if (terminal.stop.aborted) throw new CliError('interrupted', exitCodes.interrupted)
    if (!(error instanceof PlantFileError || error instanceof CliError)) throw error
    terminal.err(bold(path), ` is not checked: ${error.message}`)
    return exitCodes.usage
  }
}

async function check(
  paths: readonly string[],
  options: CheckOptions,
  terminal: Terminal,
): Promise<void> {
  const readOptions = toReadOptions(options)
  const shown = options.all ? Number.POSITIVE_INFINITY : SHOWN
  const codes: ExitCode[] = []
  for (const path of paths) codes.push(await checkFile(path, readOptions, shown, terminal))
  if (codes.includes(exitCodes.usage)) {
    throw new CliError('not every file was read', exitCodes.usage)
  }
  if (codes.includes(exitCodes.rejected)) {
    // The counts above say it.
    throw new CliError('', exitCodes.rejected, {
      hint: 'plant-store import all the same, which stores the others and writes these to a file',
    })
  }
}

export function addCheckCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('check')
    .description('check every row of files, without a plant store; - is stdin')
    .argument('<file...>', 'CSV or JSON lines, also gzipped')
    .option('--all', `show every problem, not only the first ${SHOWN} of a file`)
    .optionsGroup('How the file is written (found out by itself otherwise):')
  addFileOptions(command)
    .addHelpText('after', EXAMPLES)
    .action((paths: readonly string[], options: CheckOptions) => check(paths, options, terminal))
}
