import {
  formatOfFile,
  PlantFileError,
  type PlantFileFormatName,
  plantFileFormats,
} from '@plant-store/plant-files'
import { type Command, Option } from 'commander'
import { type Config, type Flags, loadConfig } from '../../settings/config.ts'
import { type Store, StoreUnavailableError } from '../../store/store.ts'
import { addSettingFlags, withStore } from '../command.ts'
import { CommandError, exitCodes } from '../command-error.ts'
import { describeStop, describeUnavailable } from '../failures.ts'
import { describeCount, startProgress } from '../progress.ts'
import type { Terminal } from '../terminal.ts'
import { type Input, openInput } from './input.ts'
import { type LoadCounts, loadPlants } from './load-plants.ts'

/** As many as one commit takes; more would be a little faster, but need more memory. */
const WINDOW_PLANTS = 1_024

/** A record has all digits of an id, where a body may have had 1e18. */
const ID_SLACK_BYTES = 64

const AGAIN = 'What was loaded is stored. Try: the same command again'

function findFormat(path: string, asked: PlantFileFormatName | undefined): PlantFileFormatName {
  const format = asked ?? (path === '-' ? 'jsonl' : formatOfFile(path))
  if (format !== undefined) return format
  throw new CommandError(
    `the name of ${path} ends with neither .jsonl nor .csv. Try: --format jsonl`,
    exitCodes.config,
  )
}

function describeCounts(counts: LoadCounts): string {
  const outcomes = {
    created: counts.created,
    'already there': counts.already_there,
    conflicting: counts.id_taken,
    invalid: counts.invalid,
  }
  const parts = Object.entries(outcomes).map(([name, n]) => `${n.toLocaleString('en-US')} ${name}`)
  return `Read ${describeCount(counts.read, 'plant')}: ${parts.join(', ')}.`
}

function describeFailure(error: unknown, path: string, terminal: Terminal): unknown {
  if (error instanceof PlantFileError) {
    return new CommandError(`${path} cannot be loaded: ${error.message}`, exitCodes.dataError)
  }
  if (error instanceof StoreUnavailableError) {
    const message = `${describeUnavailable(error)}. ${AGAIN}`
    return new CommandError(message, exitCodes.unavailable, { cause: error })
  }
  return describeStop(error, terminal, AGAIN)
}

interface Load {
  readonly path: string
  readonly input: Input
  readonly format: PlantFileFormatName
  readonly config: Config
}

async function load(
  { path, input, format, config }: Load,
  { plants }: Store,
  terminal: Terminal,
): Promise<void> {
  const counts: LoadCounts = { read: 0, created: 0, already_there: 0, id_taken: 0, invalid: 0 }
  const progress = startProgress(terminal, () => ({
    fraction: input.size && input.bytesRead() / input.size,
    text: `${describeCount(counts.read, 'plant')} read`,
  }))
  try {
    await loadPlants(
      plantFileFormats[format].read(input.chunks, config.bodyLimitBytes + ID_SLACK_BYTES),
      {
        plants,
        counts,
        windowSize: Math.min(config.queueLimit, WINDOW_PLANTS),
        onRefused: (line, reason) => progress.line(`${path}:${line}: ${reason}`),
        signal: terminal.stop,
      },
    )
    terminal.stop.throwIfAborted()
  } catch (error) {
    throw describeFailure(error, path, terminal)
  } finally {
    progress.end()
    terminal.err(`${describeCounts(counts)}\n`)
  }
  const refused = counts.id_taken + counts.invalid
  if (refused === 0) return
  throw new CommandError(
    `${describeCount(refused, 'plant')} of ${path} ${refused === 1 ? 'is' : 'are'} not stored: see the lines above`,
    exitCodes.dataError,
  )
}

/** `load FILE|- [--format jsonl|csv]` */
export function addLoadCommand(program: Command, terminal: Terminal): void {
  addSettingFlags(program.command('load'), [
    'databaseUrl',
    'allowDataLoss',
    'queueLimit',
    'bodyLimitBytes',
  ])
    .description('store the plants of an export')
    .argument('<file>', 'the output of `export`, or - for standard input')
    .addOption(
      new Option('--format <name>', 'jsonl or csv (default: by the ending; jsonl for -)').choices(
        Object.keys(plantFileFormats),
      ),
    )
    .addHelpText(
      'after',
      '\nA plant that is there already stays as it is, so a load can be repeated. load prints the\n' +
        'number of each line that is no plant or whose id is taken by other content, stores the\n' +
        'rest, and ends with exit code 65.\n\n' +
        'Example: plant-store-server export | plant-store-server load - --database-url URL',
    )
    .action(async (path: string, options: Flags & { format?: PlantFileFormatName }) => {
      const config = loadConfig(options)
      const format = findFormat(path, options.format)
      const input = await openInput(path, terminal)
      await withStore(terminal, config, (store) =>
        load({ path, input, format, config }, store, terminal),
      )
    })
}
