import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { encodeJson, type NewPlant } from '@plant-store/contract'
import { type Command, Option } from 'commander'
import { type Flags, loadConfig } from '../config/config.ts'
import { engineOf } from '../engines.ts'
import { plantFields } from '../store/plant-columns.ts'
import type { PlantSnapshot } from '../store/store.ts'
import { describeCount } from '../text/describe-count.ts'
import { printable } from '../text/printable.ts'
import { addSettingFlags } from './command.ts'
import { CommandError, exitCodes } from './command-error.ts'
import { describePace, startProgress } from './progress.ts'
import { showsResults, type Terminal } from './terminal.ts'

const NEEDS_QUOTES = /[",\r\n]|^$/

/** As RFC 4180 and PostgreSQL's COPY write it: an absent value is empty, an empty text is `""`. */
function toCsvField(value: NewPlant[keyof NewPlant]): string {
  if (value === undefined) return ''
  const text = String(value)
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** What a file begins with, and the line of a plant, its id with every digit. */
const formats = {
  // Escaped where a terminal would obey; the JSON value stays the same.
  jsonl: { header: '', line: (plant: NewPlant) => `${printable(encodeJson(plant))}\n` },
  csv: {
    header: `${plantFields.join(',')}\n`,
    line: (plant: NewPlant) =>
      `${plantFields.map((field) => toCsvField(plant[field])).join(',')}\n`,
  },
} as const

type FormatName = keyof typeof formats

/** Writes texts as the reader takes them; false when the reader goes, or a signal comes, before the end. */
async function writeAll(
  output: Writable,
  texts: AsyncIterable<string>,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await pipeline(texts, output, { signal, end: false })
    return true
  } catch (error) {
    if (signal.aborted || (error as NodeJS.ErrnoException).code === 'EPIPE') return false
    throw error
  }
}

/** Writes a snapshot, and shows how far it is unless a person sees the plants themselves. */
async function writeSnapshot(
  snapshot: PlantSnapshot,
  format: FormatName,
  terminal: Terminal,
): Promise<void> {
  const { header, line } = formats[format]
  const work = { startedAt: performance.now(), count: 0, bytes: 0 }
  const { err, output, stop } = terminal
  const endProgress = showsResults(terminal)
    ? undefined
    : startProgress(terminal, () => describeCount(work.count, 'plant'))
  async function* texts(): AsyncGenerator<string> {
    if (header !== '') yield header
    for await (const plants of snapshot.batches) {
      const text = plants.map(line).join('')
      yield text
      work.count += plants.length
      work.bytes += Buffer.byteLength(text)
    }
  }
  const isRead = await writeAll(output, texts(), stop).finally(() => endProgress?.())
  if (!isRead) return
  err(`Exported ${describeCount(work.count, 'plant')}: ${describePace(work)}.\n`)
  for (const { first, last } of snapshot.gaps) err(`Damaged: the ids from ${first} to ${last}.\n`)
  if (snapshot.gaps.length === 0) return
  throw new CommandError(
    'the store is damaged: plants whose ids are in the ranges above may be missing, all others are written',
    exitCodes.damaged,
    { fix: 'restore a backup, import this export, and let callers send again what may be missing' },
  )
}

async function exportPlants(
  databaseUrl: string,
  format: FormatName,
  terminal: Terminal,
): Promise<void> {
  const snapshot = await engineOf(databaseUrl).snapshot()
  try {
    terminal.err(`${snapshot.description}\n`)
    await writeSnapshot(snapshot, format, terminal)
  } finally {
    await snapshot.close()
  }
  if (!terminal.stop.aborted) return
  const pipe = terminal.output as { unref?: () => void }
  // A reader that takes nothing must not keep the process alive.
  pipe.unref?.()
  throw new CommandError('stopped before the end: the export is not whole', exitCodes.stopped)
}

/** `export [--format jsonl|csv]` */
export function addExportCommand(program: Command, terminal: Terminal): void {
  addSettingFlags(program.command('export'), ['databaseUrl'])
    .description('write every plant to standard output, in id order')
    .addOption(
      new Option('--format <name>', 'jsonl or csv').choices(Object.keys(formats)).default('jsonl'),
    )
    .addHelpText(
      'after',
      '\nAll plants as of one moment, while servers go on. ids have all their digits.\n' +
        'In csv an absent tag is an empty field, and an empty tag is "". Both formats are exact, so\n' +
        'csv holds names as they are: in a spreadsheet one that begins with = + - or @ is a formula,\n' +
        'and an id of more than 15 digits is rounded, unless every column is imported as text. On a\n' +
        'terminal csv may hold what the terminal obeys; jsonl escapes it.\n\n' +
        'Damage costs no more than the plants of the damaged page: all others are written, the ids\n' +
        'that may be missing are named, and the exit code is 65.\n\n' +
        'Example: plant-store-server export > plants.jsonl',
    )
    .action((options: Flags & { format: FormatName }) =>
      exportPlants(loadConfig(options).databaseUrl, options.format, terminal),
    )
}
