import { basename } from 'node:path'
import type { PlantStoreError } from '@plant-store/client'
import { openPlantFile, PlantFileError, type PlantFileReader } from '@plant-store/plant-files'
import { CliError } from '../cli-error.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { exitCodeOf } from '../failure.ts'
import type { Terminal } from '../terminal.ts'
import { checkRows } from './check-rows.ts'
import { shortenPath } from './file-names.ts'
import type { FileSummary } from './file-summary.ts'
import { ImportRun, type RunEnd } from './import-run.ts'
import { closeSession, openSession } from './import-session.ts'
import type { ImportSettings } from './import-settings.ts'
import { type Input, openInput } from './input.ts'
import { countRejected } from './mark.ts'
import { formatCount } from './progress.ts'
import { confirmDialect } from './show-dialect.ts'

/** The exit code of a run that did not come to its end, or came there with rejects. */
function codeOfEnd(end: RunEnd, isStopped: boolean): ExitCode {
  if (isStopped && !end.isDone) return exitCodes.interrupted
  if (end.failure !== undefined) return codeOfFailure(end.failure)
  if (end.hasTooManyRejects) return exitCodes.tooManyRejects
  return countRejected(end.mark) === 0 ? exitCodes.ok : exitCodes.rejected
}

/** What concerns one row for certain is a reject; so a row that ends an import is in doubt. */
function codeOfFailure(failure: PlantStoreError): ExitCode {
  const code = exitCodeOf(failure)
  return code === exitCodes.rejected ? exitCodes.unreachable : code
}

const STREAM_AGAIN = 'the same input again, which stores nothing twice'

type Words = Pick<FileSummary, 'message' | 'hint'>

/** Why not all is stored, and how it goes on. */
function describeEnd(
  end: RunEnd,
  exitCode: ExitCode,
  rejects: string | undefined,
  { path }: Input,
  settings: ImportSettings,
): Words {
  if (exitCode === exitCodes.ok) return {}
  const inRejects = rejects === undefined ? '' : `; the rejects are in ${rejects}`
  if (end.isDone) {
    return {
      message: `${formatCount(countRejected(end.mark))} rejected${inRejects}`,
      hint: rejects && `correct them, then ${settings.commandForRejects(rejects)}`,
    }
  }
  const why = {
    [exitCodes.interrupted]: 'interrupted',
    [exitCodes.tooManyRejects]: `more than ${settings.maxRejects} rejected`,
  }
  const reason = why[exitCode as keyof typeof why] ?? end.failure?.message
  return {
    message: `${reason}; nothing is lost${inRejects}`,
    hint: path === undefined ? STREAM_AGAIN : `${settings.commandFor(path)}, which goes on`,
  }
}

async function send(
  input: Input,
  reader: PlantFileReader,
  settings: ImportSettings,
  terminal: Terminal,
): Promise<FileSummary> {
  const connection = await settings.openConnection()
  const parts = { input, reader, settings, terminal }
  const session = await openSession({ ...parts, server: connection.baseUrl })
  let end: RunEnd | undefined
  try {
    end = await new ImportRun({ ...parts, connection, session }).run()
  } finally {
    await closeSession(session, end?.isDone === true)
  }
  const exitCode = codeOfEnd(end, terminal.stop.aborted)
  const rejects = session.rejects.bytes === 0 ? undefined : shortenPath(session.rejects.path)
  const words = describeEnd(end, exitCode, rejects, input, settings)
  return { file: input.name, exitCode, mark: end.mark, rejects, ...words }
}

async function check(
  input: Input,
  reader: PlantFileReader,
  { takesGuess, maxRejects }: ImportSettings,
  terminal: Terminal,
): Promise<FileSummary> {
  await confirmDialect(input.name, reader, terminal, takesGuess)
  const stop = () => input.stop()
  terminal.stop.addEventListener('abort', stop)
  const mark = await checkRows(reader, maxRejects, terminal)
  terminal.stop.removeEventListener('abort', stop)
  const rejected = countRejected(mark)
  if (terminal.stop.aborted) {
    return { file: input.name, exitCode: exitCodes.interrupted, mark, message: 'interrupted' }
  }
  const checked = rejected > 0 ? exitCodes.rejected : exitCodes.ok
  const exitCode = rejected > maxRejects ? exitCodes.tooManyRejects : checked
  const message = rejected === 0 ? undefined : `${formatCount(rejected)} would be rejected`
  return { file: input.name, exitCode, mark, message }
}

/**
 * Imports a file, or checks it for a dry run.
 * @throws CliError where it cannot begin or go on
 */
export async function importFile(
  path: string,
  settings: ImportSettings,
  terminal: Terminal,
): Promise<FileSummary> {
  const input = await openInput(path, terminal.input)
  try {
    const reader = await openPlantFile(input.chunks(), basename(path), settings.read)
    return await (settings.isDryRun ? check : send)(input, reader, settings, terminal)
  } catch (error) {
    if (!(error instanceof PlantFileError)) throw error
    throw new CliError(`${input.name}: ${error.message}`, exitCodes.usage, { cause: error })
  } finally {
    await input.close()
  }
}
