import { type ProgressMode, progressModes } from '@plant-store/plant-files'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { CliError } from '../cli-error.ts'
import { addConnectionOptions, type ConnectionOptions, openClient } from '../connection.ts'
import { exitCodes } from '../exit-codes.ts'
import { addFileOptions, type FileOptions, toReadOptions } from '../file-options.ts'
import type { Terminal } from '../terminal.ts'
import { toCommandLine } from './command-line.ts'
import { importFiles } from './import-files.ts'
import type { ImportSettings } from './import-settings.ts'

interface ImportOptions extends ConnectionOptions, FileOptions {
  readonly dryRun?: true
  readonly rejects?: string
  readonly journal?: string
  readonly maxRejects?: number
  readonly concurrency: number
  readonly maxOutage: number
  readonly progress: ProgressMode
  readonly json?: true
  readonly yes?: true
}

const EXAMPLES = `
Examples:
  plant-store import plants.csv
  plant-store import export.csv --map "Plant No=id" --map "Plant name=name"
  plant-store import --dry-run plants.jsonl.gz
  zcat plants.csv.gz | plant-store import -

To store a plant twice changes nothing, so the same command may be run again at any time. It goes on
where it was interrupted: FILE.import-journal says where that is.`

const DEFAULT_CONCURRENCY = 16
const DEFAULT_OUTAGE_SECONDS = 300

function integerFrom(least: number): (text: string) => number {
  return (text) => {
    if (!/^\d{1,9}$/.test(text) || Number(text) < least) {
      throw new InvalidArgumentError(`It is an integer from ${least}.`)
    }
    return Number(text)
  }
}

/** Flags that a file of rejects has no use for: it is read without any. */
const OF_ONE_FILE = [
  'rejects',
  'journal',
  'dryRun',
  'format',
  'delimiter',
  'encoding',
  'header',
  'map',
]

function toSettings(command: Command, terminal: Terminal): ImportSettings {
  const options = command.opts<ImportOptions>()
  const { limitBytes: _, ...meaning } = toReadOptions(options)
  return {
    read: toReadOptions(options),
    // Without the flags that were not given, as JSON has no undefined.
    meaning: JSON.parse(JSON.stringify({ ...meaning, rejects: options.rejects })),
    isDryRun: options.dryRun === true,
    takesGuess: options.yes === true,
    rejects: options.rejects,
    journal: options.journal,
    maxRejects: options.maxRejects ?? Number.POSITIVE_INFINITY,
    concurrency: options.concurrency,
    maxOutageMs: options.maxOutage * 1_000,
    progress: options.progress,
    openConnection: () => openClient(options, terminal),
    commandFor: (file) => toCommandLine(command, file),
    commandForRejects: (file) => toCommandLine(command, file, OF_ONE_FILE),
  }
}

/** @throws CliError for flags that name one file where there are several */
function checkFiles(files: readonly string[], { rejects, journal }: ImportSettings): void {
  const flag = (rejects && '--rejects') ?? (journal && '--journal')
  if (files.length === 1 || flag === undefined) return
  throw new CliError(
    `${flag} names one file, and there are ${files.length} to import`,
    exitCodes.usage,
    {
      hint: 'a command for each file',
    },
  )
}

function addWorkOptions(command: Command): void {
  const integer = (flags: string, description: string, least: number) =>
    new Option(flags, description).argParser(integerFrom(least))
  command
    .option('--dry-run', 'check every row, send none')
    .option('-y, --yes', 'take the file as it seems to be written, without a question')
    .option('--rejects <file>', 'where rows go that are not stored (default: beside the file)')
    .option('--journal <file>', 'where the import notes how far it is (default: beside the file)')
    .addOption(integer('--max-rejects <n>', 'end once more rows are rejected', 0))
    .addOption(
      integer('--concurrency <n>', 'plants on their way at once', 1).default(DEFAULT_CONCURRENCY),
    )
    .addOption(
      integer('--max-outage <seconds>', 'how long to wait for a server that is gone', 0).default(
        DEFAULT_OUTAGE_SECONDS,
      ),
    )
    .addOption(
      new Option('--progress <how>', 'how progress is shown')
        .choices(progressModes)
        .default('auto'),
    )
    .option('--json', 'print the summary as one JSON object')
}

/** Adds `plant-store import` to a program. */
export function addImportCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('import')
    .description('store the plants of files; - is stdin')
    .argument('<file...>', 'CSV or JSON lines, also gzipped')
  addFileOptions(command.optionsGroup('How the file is written (found out by itself otherwise):'))
  addWorkOptions(command.optionsGroup('What to do:'))
  addConnectionOptions(command)
    .addHelpText('after', EXAMPLES)
    .action(async () => {
      const settings = toSettings(command, terminal)
      checkFiles(command.args, settings)
      const isJson = command.opts<ImportOptions>().json === true
      await importFiles(command.args, settings, isJson, terminal)
    })
}
