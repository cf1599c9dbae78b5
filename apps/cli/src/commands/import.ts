import { isPlantStoreError } from '@plant-store/client'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { CliError, type ExitCode, exitCodes } from '../cli-error.ts'
import { addConnectionOptions, type ConnectionOptions, openClient } from '../connection.ts'
import { ImportRun, type RunOptions } from '../import/import-run.ts'
import { addFileOptions, openFile } from '../import/open-file.ts'
import type { ReadOptions } from '../import/plant-file.ts'
import { formatCount, formatDuration } from '../import/progress.ts'
import { RejectsFile } from '../import/rejects.ts'
import { exitCodeOf, hintOf } from '../outcome.ts'
import type { Terminal } from '../terminal.ts'

interface ImportOptions extends ConnectionOptions, ReadOptions, RunOptions {
  readonly rejects?: string
}

const EXAMPLES = `
Examples:
  plant-store import plants.csv
  plant-store import export.csv --map "Plant No=id" --map "Plant name=name"
  zcat plants.csv.gz | plant-store import -

To store a plant twice changes nothing, so the same command may be run again at any time.`

/** `plants.csv: 99,961 stored (1,204 there already), 39 rejected in 0:25`, and a line for each reason. */
function describeSummary(
  file: string,
  { stored, alreadyThere, rejected, reasons, rows, seconds }: ImportRun,
  fromRow: number,
  firstId: bigint | undefined,
): string {
  const there = alreadyThere > 0 ? ` (${formatCount(alreadyThere)} there already)` : ''
  const counts = `${formatCount(stored)} stored${there}, ${formatCount(rejected)} rejected`
  const idOf = (row: number) => (firstId ?? 0n) + BigInt(row - 1)
  const isShown = firstId !== undefined && rows >= fromRow
  const ids = isShown ? `; ids ${idOf(fromRow)} to ${idOf(rows)}` : ''
  return `${file}: ${counts} in ${formatDuration(seconds)}${ids}\n${reasons.describe()}`
}

/** What ended a run, as a CliError; one that nobody foresaw is thrown. */
function toCliError(failure: unknown, tokenBy: string): CliError {
  if (failure instanceof CliError) return failure
  if (!isPlantStoreError(failure)) throw failure
  const code = exitCodeOf(failure)
  // What concerns one row for certain is a reject; so a row that ends an import is in doubt.
  const exitCode: ExitCode = code === exitCodes.rejected ? exitCodes.unreachable : code
  const hint = exitCode === exitCodes.notAllowed ? hintOf(failure, tokenBy) : undefined
  return new CliError(failure.message, exitCode, hint)
}

/** Why not all is stored, and how it goes on; undefined where all is stored. */
function describeEnd(
  { nextRow, failure, rejected, advice }: ImportRun,
  rejects: string | undefined,
  tokenBy: string,
): CliError | undefined {
  const inRejects = rejects === undefined ? '' : `; the rejects are in ${rejects}`
  if (nextRow === undefined) {
    if (rejected === 0) return undefined
    const message = `${formatCount(rejected)} rejected${inRejects}`
    const hint = advice ?? `correct them, then plant-store import ${rejects}`
    return new CliError(message, exitCodes.rejected, hint)
  }
  // What ends a run beside a failure is a signal.
  const interrupted = new CliError('interrupted', exitCodes.interrupted)
  const error = toCliError(failure ?? interrupted, tokenBy)
  // A file that cannot be read as it was asked is to be read anew.
  const isAnew = error.exitCode === exitCodes.usage || error.exitCode === exitCodes.failure
  const goOn = isAnew ? undefined : `the same command with --from-row ${nextRow}`
  const joint =
    error.exitCode === exitCodes.rejected ? '; or, if only these are wrong, ' : '; then '
  const hint = [error.hint, goOn].filter(Boolean).join(joint) || undefined
  const message = `${error.message}; it came to row ${formatCount(nextRow)}, and nothing is lost${inRejects}`
  return new CliError(message, error.exitCode, hint)
}

/** @throws CliError where not every row is stored */
async function importFile(path: string, options: ImportOptions, terminal: Terminal): Promise<void> {
  const { input, dialect, records } = await openFile(path, options, terminal)
  // Its requests cost less than half of what those of Node's own fetch cost.
  const { undiciFetch: fetch } = await import('@plant-store/client/undici')
  const { client, tokenBy } = await openClient(options, terminal, { fetch })
  const rejects = new RejectsFile(path, options.rejects, dialect)
  const parts = { input, records: records(), rejects, client, terminal }
  const run = new ImportRun({ ...options, ...parts })
  await run.run()
  input.stop()
  const error = describeEnd(run, rejects.publish(), tokenBy)
  terminal.out(describeSummary(input.name, run, options.fromRow, dialect.firstId))
  if (error !== undefined) throw error
}

function integer(flags: string, description: string, least: number, usual: number): Option {
  return new Option(flags, description).default(usual).argParser((text) => {
    if (/^\d{1,12}$/.test(text) && Number(text) >= least) return Number(text)
    throw new InvalidArgumentError(`It is an integer from ${least}.`)
  })
}

/** Adds `plant-store import` to a program. */
export function addImportCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('import')
    .description('store the plants of a file; - is stdin')
    .argument('<file>', 'CSV or JSON lines')
  addFileOptions(command.optionsGroup('How the file is written:'))
  command
    .optionsGroup('What to do:')
    .addOption(integer('--from-row <n>', 'go on at this row behind the first line', 1, 1))
    .option('--rejects <file>', 'where rows go that are not stored (default: beside the file)')
    .addOption(integer('--concurrency <n>', 'plants on their way at once', 1, 16))
    .addOption(integer('--max-outage <seconds>', 'how long to wait for a lost server', 0, 300))
  addConnectionOptions(command)
    .addHelpText('after', EXAMPLES)
    .action((path: string, options: ImportOptions) => importFile(path, options, terminal))
}
