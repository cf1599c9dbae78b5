import { setTimeout as sleep } from 'node:timers/promises'
import {
  createRejectsSummary,
  describeDialect,
  openPlantFile,
  PlantFileError,
  type PlantFileReader,
} from '@plant-store/plant-files'
import type { Command } from 'commander'
import { type Config, type Flags, loadConfig } from '../../config/config.ts'
import { operatorNames } from '../../store/operator-names.ts'
import { type Store, StoreUnavailableError } from '../../store/store.ts'
import { describeCount } from '../../text/describe-count.ts'
import { addSettingFlags, withStore } from '../command.ts'
import { CommandError, exitCodes } from '../command-error.ts'
import { describeStop, describeUnavailable, refuseExisting } from '../failures.ts'
import { describePace, perSecond, startProgress } from '../progress.ts'
import type { Terminal } from '../terminal.ts'
import { type Input, openInput } from './input.ts'
import { type LoadCounts, loadPlants, type Reject } from './load-plants.ts'
import { addReadFlags, type ReadFlags, toReadOptions } from './read-flags.ts'
import { createRejectsFile, type RejectsFile } from './rejects-file.ts'

/** As many as one commit takes; more would be a little faster, but need more memory. */
const WINDOW_PLANTS = 1_024

/** A record has all digits of an id, where a body may have had 1e18. */
const ID_SLACK_BYTES = 64

/** How long after the end of a pipe the signal that ended its writer may come. */
const SIGNAL_MS = 50

const AGAIN = 'What was loaded is stored. Try: the same command again'

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
  readonly reader: PlantFileReader
  readonly rejects: RejectsFile
  readonly config: Config
}

/** Refuses a file whose beginning may be read in two ways: a guess would store wrong plants. */
async function openReader(
  path: string,
  input: Input,
  flags: ReadFlags,
  limitBytes: number,
  terminal: Terminal,
): Promise<PlantFileReader> {
  try {
    const reader = await openPlantFile(input.chunks, path, toReadOptions(flags, limitBytes))
    const [doubt] = reader.dialect.doubts
    if (doubt !== undefined) throw new PlantFileError(`${doubt.question}. Try: ${doubt.flag}`)
    terminal.err(`${path}: ${describeDialect(reader.dialect)}\n`)
    return reader
  } catch (error) {
    throw describeFailure(error, path, terminal)
  }
}

function describeRejected(refused: number, { path, rejects }: Load): CommandError {
  const file = rejects.path()
  return new CommandError(
    `${describeCount(refused, 'plant')} of ${path} ${refused === 1 ? 'is' : 'are'} not stored, and kept in ${file}. Try: correct that file, and load it`,
    exitCodes.dataError,
  )
}

async function load(whole: Load, { plants }: Store, terminal: Terminal): Promise<void> {
  const { path, input, reader, rejects, config } = whole
  const counts: LoadCounts = { read: 0, created: 0, already_there: 0, id_taken: 0, invalid: 0 }
  const summary = createRejectsSummary()
  const startedAt = performance.now()
  const work = () => ({ startedAt, count: counts.read, bytes: input.bytesRead() })
  const progress = startProgress(terminal, () => ({
    fraction: input.size && input.bytesRead() / input.size,
    counts: { read: counts.read, rejected: counts.id_taken + counts.invalid },
    perSecond: perSecond(work()),
  }))
  try {
    await loadPlants(reader.records(), {
      plants,
      counts,
      windowSize: Math.min(config.queueLimit, WINDOW_PLANTS),
      onRejected(record, { code, message, reason }: Reject) {
        rejects.add(record, { code, message })
        if (summary.add(reason)) progress.line(`${path}:${record.line}: ${message}`)
      },
      signal: terminal.stop,
    })
    // The signal that stops this stops the writer of a pipe as well, whose end may be seen first.
    if (path === '-') await sleep(SIGNAL_MS, undefined, { signal: terminal.stop })
    terminal.stop.throwIfAborted()
  } catch (error) {
    throw describeFailure(error, path, terminal)
  } finally {
    progress.end()
    rejects.close()
    for (const line of summary.describe()) terminal.err(`${line}\n`)
    terminal.err(`${describeCounts(counts)} ${describePace(work())}.\n`)
  }
  const refused = counts.id_taken + counts.invalid
  if (refused > 0) throw describeRejected(refused, whole)
}

const help = () => `
How the file is written is found out; what can be read in two ways is refused with the flag that
decides. A plant that is there already stays as it is, so a load can be repeated. load shows the
first five lines that are no plant or whose id is taken by other content, and counts the others.
It keeps them in a file beside the input, to be corrected and loaded, stores the rest, and ends
with exit code 65.

Example: ${operatorNames.program} export | ${operatorNames.program} load - --database-url URL`

/** `load FILE|-` */
export function addLoadCommand(program: Command, terminal: Terminal): void {
  const command = addSettingFlags(program.command('load'), [
    'databaseUrl',
    'allowDataLoss',
    'queueLimit',
    'bodyLimitBytes',
  ])
  addReadFlags(command)
    .description('store the plants of an export or a spreadsheet')
    .argument('<file>', 'CSV or JSON lines, maybe as gzip, or - for standard input')
    .option(
      '--rejects <file>',
      'where lines are kept that cannot be stored (default: beside the file)',
    )
    .addHelpText('after', help)
    .action(async (path: string, flags: Flags & ReadFlags & { rejects?: string }) => {
      const config = loadConfig(flags)
      if (flags.rejects !== undefined) refuseExisting(flags.rejects)
      const input = await openInput(path, terminal)
      const limitBytes = config.bodyLimitBytes + ID_SLACK_BYTES
      const reader = await openReader(path, input, flags, limitBytes, terminal)
      const rejects = createRejectsFile(path, flags.rejects, reader.dialect)
      await withStore(terminal, config, (store) =>
        load({ path, input, reader, rejects, config }, store, terminal),
      )
    })
}
