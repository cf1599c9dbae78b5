import { closeSync, openSync, writeSync } from 'node:fs'
import type { Config } from '../config/config.ts'
import type { SettingName } from '../config/settings.ts'
import { userName } from '../process/user-name.ts'
import type { Store, TokenRecord } from '../store/store.ts'
import { escapeUnits } from '../text/printable.ts'
import { formatForPeople } from '../text/readable-line.ts'
import { withoutCredentials } from '../text/without-credentials.ts'
import { withStore } from './command.ts'
import { CommandError, exitCodes } from './command-error.ts'
import type { Terminal } from './terminal.ts'

/** The settings of every audited command. */
export const AUDITED_SETTINGS: SettingName[] = ['databaseUrl', 'allowDataLoss', 'auditFile']

export type AuditedAction =
  | 'restore'
  | 'token.create'
  | 'token.list'
  | 'token.revoke'
  | 'token.rotate'

/** What a command did, without any secret; the names are those of the log. */
export type AuditFields = Readonly<
  Record<string, string | number | boolean | readonly string[] | undefined>
>

/** What an audit line says about a token. */
export function auditFieldsOf({ id, name, expiresAt }: TokenRecord) {
  const expires = expiresAt === undefined ? 'never' : new Date(expiresAt).toISOString()
  return { tokenId: id, tokenName: name, expires }
}

/** One line of JSON in ASCII: no field can end the line or control a terminal. */
export function formatAuditLine(fields: AuditFields): string {
  const line = JSON.stringify({ level: 'info', time: new Date().toISOString(), ...fields })
  return `${withoutCredentials(line.replace(/[^\x20-\x7e]/g, escapeUnits))}\n`
}

/** Who runs this program, as far as the environment can be believed. */
export function whoRuns({ sudoUser }: Pick<Config, 'sudoUser'>): AuditFields {
  return { user: userName(), ...(sudoUser === undefined ? {} : { sudoUser }) }
}

/**
 * Opens the audit file to add lines to it; a new one is for its owner only.
 * @throws CommandError when it cannot be opened.
 */
export function openAuditFile(path: string | undefined): number | undefined {
  if (path === undefined) return undefined
  try {
    // Each write is synced; a sync of its own is forbidden under Node's permission model.
    return openSync(path, 'as', 0o600)
  } catch (error) {
    const message = `nothing was done: cannot write the audit file: ${(error as Error).message}`
    throw new CommandError(message, exitCodes.cannotCreate, { cause: error })
  }
}

function writeRecord(
  fields: AuditFields,
  { terminal }: AuditedCommand,
  file: number | undefined,
): void {
  const line = formatAuditLine(fields)
  // A person saw which store it is when it was opened.
  const shown = terminal.isInteractive
    ? formatForPeople(formatAuditLine({ ...fields, store: undefined }))
    : line
  terminal.draw(shown)
  if (file === undefined) return
  try {
    writeSync(file, line)
  } catch (error) {
    const message = `the line above is not in the audit file: ${(error as Error).message}. The result is not shown`
    throw new CommandError(message, exitCodes.ioError, { cause: error })
  }
}

/** The work of a command after its commit: what to record, and then how to show the result. */
export interface Audited {
  readonly fields: AuditFields
  readonly report: () => void
}

/** An audited command: what it does, where it writes, and its settings. */
export interface AuditedCommand {
  readonly terminal: Terminal
  readonly config: Config
  readonly action: AuditedAction
}

type WriteRecord = (fields: AuditFields) => void

/** Opens the audit file, if one is set, for as long as `use` records what a command does. */
async function withRecord(
  command: AuditedCommand,
  use: (record: WriteRecord) => Promise<void>,
): Promise<void> {
  const { config, action } = command
  const file = openAuditFile(config.auditFile)
  const who = whoRuns(config)
  try {
    await use((fields) => writeRecord({ audit: action, ...who, ...fields }, command, file))
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

async function recordOutcome(
  record: WriteRecord,
  about: AuditFields,
  work: () => Promise<Audited>,
): Promise<void> {
  const { fields, report } = await work().catch((error: Error) => {
    record({ outcome: 'failed', ...about, reason: error.message })
    throw error
  })
  record({ outcome: 'done', ...about, ...fields })
  report()
}

/**
 * Does a command's work and records who did what when, and how it ended: on standard error, and
 * synced in the audit file if one is set. The result is shown after it is recorded, so that nobody
 * has a token without a record. `about` is recorded for every outcome.
 * @throws CommandError before the work when the audit file cannot be opened.
 */
export function audit(
  command: AuditedCommand,
  about: AuditFields,
  work: () => Promise<Audited>,
): Promise<void> {
  return withRecord(command, (record) => recordOutcome(record, about, work))
}

/** Like audit, for work on the store of the settings. */
export function withAudit(
  command: AuditedCommand,
  use: (store: Store) => Promise<Audited>,
): Promise<void> {
  return withRecord(command, async (record) => {
    let isOpen = false
    try {
      await withStore(command.terminal, command.config, (store) => {
        isOpen = true
        return recordOutcome(record, { store: store.description }, () => use(store))
      })
    } catch (error) {
      if (!isOpen) record({ outcome: 'failed', reason: (error as Error).message })
      throw error
    }
  })
}
