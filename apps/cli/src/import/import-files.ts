import { CliError } from '../cli-error.ts'
import { exitCodes } from '../exit-codes.ts'
import { red, type Terminal } from '../terminal.ts'
import {
  concernsEveryFile,
  describeSummary,
  type FileSummary,
  toJson,
  worstOf,
} from './file-summary.ts'
import { importFile } from './import-file.ts'
import type { ImportSettings } from './import-settings.ts'

/** What a file ended with as an error, for the end of the program or the next file. */
interface Ended {
  readonly summary: FileSummary
  readonly error: CliError | undefined
}

function toError(summary: FileSummary): CliError | undefined {
  const { exitCode, message, hint } = summary
  if (message === undefined) return undefined
  return new CliError(message, exitCode, { hint })
}

async function importOne(
  path: string,
  settings: ImportSettings,
  terminal: Terminal,
): Promise<Ended> {
  try {
    const summary = await importFile(path, settings, terminal)
    return { summary, error: toError(summary) }
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    const { exitCode, message, hint } = error
    return { summary: { file: path, exitCode, message, hint }, error }
  }
}

function reportError(error: CliError | undefined, terminal: Terminal): void {
  if (error === undefined) return
  terminal.err(red('plant-store: '), error.message)
  if (error.hint !== undefined) terminal.err('  Try: ', error.hint)
}

/**
 * Imports files, each in turn, and prints what became of each; ends behind one that failed for a
 * reason which concerns them all.
 * @throws CliError with the exit code of the worst, unless all is stored
 */
export async function importFiles(
  paths: readonly string[],
  settings: ImportSettings,
  isJson: boolean,
  terminal: Terminal,
): Promise<void> {
  const all: Ended[] = []
  for (const path of paths) {
    const ended = await importOne(path, settings, terminal)
    all.push(ended)
    if (!isJson) terminal.out(describeSummary(ended.summary, settings.isDryRun))
    if (paths.length > 1) reportError(ended.error, terminal)
    if (concernsEveryFile(ended.summary.exitCode)) break
  }
  const exitCode = worstOf(all.map(({ summary }) => summary.exitCode))
  if (isJson) {
    const files = all.map(({ summary }) => toJson(summary))
    terminal.out(`${JSON.stringify({ exitCode, files })}\n`)
  }
  if (exitCode === exitCodes.ok) return
  const [first] = all
  if (paths.length === 1 && first?.error !== undefined) throw first.error
  const done = all.filter(({ summary }) => summary.exitCode === exitCodes.ok).length
  throw new CliError(`${done} of ${paths.length} files are stored completely`, exitCode)
}
