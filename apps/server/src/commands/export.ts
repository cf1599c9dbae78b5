import type { Writable } from 'node:stream'
import {
  createSpreadsheetRisks,
  type PlantFileFormatName,
  plantFileFormats,
} from '@plant-store/plant-files'
import { type Command, Option } from 'commander'
import { engineOf } from '../engines/engines.ts'
import { type Flags, loadConfig } from '../settings/config.ts'
import { operatorNames } from '../store/operator-names.ts'
import { describeCount } from '../text/describe-count.ts'
import { addSettingFlags } from './command.ts'
import { CommandError, exitCodes } from './command-error.ts'
import type { Terminal } from './terminal.ts'

/** Resolves to true once the reader has taken the text, to false when the reader has gone. */
function write(output: Writable, text: string, stop: AbortSignal): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const stopped = () => resolve(false)
    stop.addEventListener('abort', stopped, { once: true })
    output.write(text, (error) => {
      stop.removeEventListener('abort', stopped)
      if (error == null) resolve(true)
      else if ((error as NodeJS.ErrnoException).code === 'EPIPE') resolve(false)
      else reject(error)
    })
  })
}

/** Writes each text after the reader took the one before; false when the reader goes before the end. */
async function writeAll(
  output: Writable,
  texts: AsyncIterable<string>,
  stop: AbortSignal,
): Promise<boolean> {
  for await (const text of texts) {
    if (stop.aborted || !(await write(output, text, stop))) return false
  }
  return true
}

async function exportPlants(
  databaseUrl: string,
  format: PlantFileFormatName,
  { output, err, stop }: Terminal,
): Promise<void> {
  const snapshot = await engineOf(databaseUrl).snapshot()
  const { header, write } = plantFileFormats[format]
  const risks = format === 'csv' ? createSpreadsheetRisks() : undefined
  let count = 0
  async function* texts(): AsyncGenerator<string> {
    if (header !== '') yield header
    for await (const plants of snapshot.batches) {
      yield write(plants)
      count += plants.length
      risks?.count(plants)
    }
  }
  try {
    err(`${snapshot.description}\n`)
    const isWhole = await writeAll(output, texts(), stop)
    if (isWhole) err(`Exported ${describeCount(count, 'plant')}.\n`)
    for (const line of risks?.describe() ?? []) err(`${line}\n`)
  } finally {
    await snapshot.close()
  }
  if (!stop.aborted) return
  const pipe = output as { unref?: () => void }
  // A reader that takes nothing must not keep the process alive.
  pipe.unref?.()
  throw new CommandError('stopped before the end: the export is not whole', exitCodes.stopped)
}

/** `export [--format jsonl|csv]` */
export function addExportCommand(program: Command, terminal: Terminal): void {
  addSettingFlags(program.command('export'), ['databaseUrl'])
    .description('write every plant to standard output, in id order')
    .addOption(
      new Option('--format <name>', 'jsonl or csv')
        .choices(Object.keys(plantFileFormats))
        .default('jsonl'),
    )
    .addHelpText(
      'after',
      '\nAll plants as of one moment, while servers go on. ids have all their digits.\n' +
        'In csv an absent tag is an empty field, and an empty tag is "". Both formats are exact, so\n' +
        'csv holds names as they are: in a spreadsheet one that begins with = + - or @ is a formula,\n' +
        'and an id of more than 15 digits is rounded, unless every column is imported as text. On a\n' +
        'terminal csv may hold what the terminal obeys; jsonl escapes it.\n\n' +
        `Example: ${operatorNames.program} export > plants.jsonl`,
    )
    .action((options: Flags & { format: PlantFileFormatName }) =>
      exportPlants(loadConfig(options).databaseUrl, options.format, terminal),
    )
}
