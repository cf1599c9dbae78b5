import { resolve } from 'node:path'
import { type Dialect, formatOfFile, type PlantFileReader } from '@plant-store/plant-files'
import { CliError, codeOf } from '../cli-error.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Terminal } from '../terminal.ts'
import { journalPathOf, rejectsPathOf, shortenPath } from './file-names.ts'
import type { ImportSettings } from './import-settings.ts'
import type { Input } from './input.ts'
import {
  type ImportHead,
  type ImportMark,
  type Journal,
  JournalError,
  openJournal,
} from './journal.ts'
import { NO_MARK } from './mark.ts'
import { formatCount } from './progress.ts'
import {
  createRejectsFile,
  type RejectsFile,
  RejectsFileError,
  reopenRejectsFile,
} from './rejects-file.ts'
import { confirmDialect } from './show-dialect.ts'

/** An import that has begun, and the files that it writes. */
export interface ImportSession {
  /** Undefined for a stream. */
  readonly journal: Journal | undefined
  readonly rejects: RejectsFile
  /** How far earlier runs came. */
  readonly mark: ImportMark
}

export interface SessionParts {
  readonly input: Input
  readonly reader: PlantFileReader
  /** The URL of the server. */
  readonly server: string
  readonly settings: ImportSettings
  readonly terminal: Terminal
}

function rejectsPathFor({ input, reader, settings }: SessionParts): string {
  const { format } = reader.dialect
  const own = rejectsPathOf(input.path ?? `stdin.${format}`)
  // Its rejects are to be read without a flag.
  const isMisnamed = format !== (formatOfFile(own) ?? format)
  return resolve(settings.rejects ?? (isMisnamed ? `${own}.${format}` : own))
}

function cannotWrite(path: string, flag: string, error: unknown): CliError {
  return new CliError(`${path} cannot be written: ${codeOf(error)}`, exitCodes.usage, {
    hint: `${flag} FILE, in a folder where you may write`,
    cause: error,
  })
}

async function openRejects(
  path: string,
  open: () => Promise<RejectsFile>,
  describeSize: (bytes: number) => CliError,
): Promise<RejectsFile> {
  try {
    return await open()
  } catch (error) {
    if (error instanceof RejectsFileError) throw describeSize(error.bytes)
    throw cannotWrite(path, '--rejects', error)
  }
}

function beginRejects(path: string, { settings }: SessionParts): Promise<RejectsFile> {
  const shown = shortenPath(path)
  const describe = () =>
    new CliError(`${shown} holds the rejects of an earlier import`, exitCodes.usage, {
      hint: `correct them, then ${settings.commandForRejects(shown)}; or move that file away`,
    })
  return openRejects(path, () => createRejectsFile(path), describe)
}

/** What makes two readings of the same rows the same; the rest is shown or asked only once. */
function essenceOf({ sample: _, doubts: __, ...essence }: Dialect): string {
  return JSON.stringify(essence)
}

function refuseToGoOn(journal: Journal, what: string, hint: string): CliError {
  return new CliError(`this import has begun, but ${what}`, exitCodes.usage, {
    hint: `${hint}; or remove ${journal.path} to begin again, which stores nothing twice`,
  })
}

/** @throws CliError where the import that has begun is another one. */
function checkHead(journal: Journal, head: ImportHead, parts: SessionParts): void {
  const { server, settings, reader } = parts
  if (head.server !== server) {
    const what = `at ${head.server}, and this is ${server}`
    throw refuseToGoOn(journal, what, `--base-url ${head.server}`)
  }
  if (JSON.stringify(head.flags) !== JSON.stringify(settings.meaning)) {
    const what = `with other flags: ${JSON.stringify(head.flags)}`
    throw refuseToGoOn(journal, what, 'the same flags')
  }
  if (essenceOf(head.dialect as Dialect) !== essenceOf(reader.dialect)) {
    throw refuseToGoOn(journal, 'the file is another one now', 'the file that it began with')
  }
}

async function goOn(
  journal: Journal,
  head: ImportHead,
  parts: SessionParts,
): Promise<ImportSession> {
  checkHead(journal, head, parts)
  const mark = journal.mark ?? NO_MARK
  const rejects = await openRejects(
    head.rejects,
    () => reopenRejectsFile(head.rejects, mark.rejectsBytes),
    (bytes) => {
      const what = `of its rejects in ${shortenPath(head.rejects)} ${bytes} bytes are left of ${mark.rejectsBytes}`
      return refuseToGoOn(journal, what, 'put that file back')
    },
  )
  const { input, terminal } = parts
  terminal.err(`${input.name}: goes on behind row ${formatCount(mark.rows)}, begun ${head.began}`)
  return { journal, rejects, mark }
}

async function begin(journal: Journal, parts: SessionParts): Promise<ImportSession> {
  const { input, reader, server, settings, terminal } = parts
  try {
    await confirmDialect(input.name, reader, terminal, settings.takesGuess)
    const path = rejectsPathFor(parts)
    // Before the journal names the file: the next run would take what an older import left in it.
    const rejects = await beginRejects(path, parts)
    const began = new Date().toISOString()
    const flags = settings.meaning
    await journal.begin({ began, server, dialect: reader.dialect, flags, rejects: path })
    return { journal, rejects, mark: NO_MARK }
  } catch (error) {
    await journal.remove()
    throw error
  }
}

async function openOwnJournal(path: string, name: string): Promise<Journal> {
  try {
    return await openJournal(path)
  } catch (error) {
    if (!(error instanceof JournalError)) throw cannotWrite(path, '--journal', error)
    throw new CliError(`${name}: ${error.message}`, exitCodes.usage, {
      hint: error.code === 'in use' ? 'again, once that one has ended' : 'move that file away',
    })
  }
}

/**
 * Begins the import of a file, or goes on with it behind the last mark of its journal.
 * @throws CliError where it has begun as another import, or another process is at it; where its
 * files cannot be written; where the way to read it is in doubt and stays so.
 */
export async function openSession(parts: SessionParts): Promise<ImportSession> {
  const { input, reader, settings, terminal } = parts
  if (input.path === undefined) {
    await confirmDialect(input.name, reader, terminal, settings.takesGuess)
    const rejects = await beginRejects(rejectsPathFor(parts), parts)
    return { journal: undefined, rejects, mark: NO_MARK }
  }
  const journal = await openOwnJournal(settings.journal ?? journalPathOf(input.path), input.name)
  if (journal.head === undefined) return await begin(journal, parts)
  try {
    return await goOn(journal, journal.head, parts)
  } catch (error) {
    await journal.close()
    throw error
  }
}

/** Closes the files of an import; forgets it where it is done. */
export async function closeSession(
  { journal, rejects }: ImportSession,
  isDone: boolean,
): Promise<void> {
  await rejects.close()
  if (isDone) await journal?.remove()
  else await journal?.close()
}
