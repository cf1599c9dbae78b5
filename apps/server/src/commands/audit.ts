import { closeSync, openSync, writeSync } from 'node:fs'
import { userName } from '../process/user-name.ts'
import { type Flags, loadConfig } from '../settings/config.ts'
import type { SettingName } from '../settings/settings.ts'
import type { Store, TokenRecord } from '../store/store.ts'
import { escapeUnits } from '../text/printable.ts'
import { withoutCredentials } from '../text/without-credentials.ts'
import { CommandError, exitCodes, type Terminal, withStore } from './command.ts'

/** The settings of every command that is audited. */
export const AUDITED_SETTINGS: SettingName[] = ['databaseUrl', 'allowDataLoss', 'auditFile']

export type AuditedAction =
  | 'restore'
  | 'token.create'
  | 'token.list'
  | 'token.revoke'
  | 'token.rotate'

/** What was done, without any secret; names are those of the log. */
export type AuditFields = Readonly<Record<string, string | number | boolean | readonly string[]>>

/** What an audit line tells of a token. */
export function auditFieldsOf({ id, name, expiresAt }: TokenRecord) {
  const expires = expiresAt === undefined ? 'never' : new Date(expiresAt).toISOString()
  return { tokenId: id, tokenName: name, expires }
}

/** One line of JSON in ASCII: whatever a field holds can neither end it nor speak to a terminal. */
export function formatAuditLine(fields: AuditFields): string {
  const line = JSON.stringify({ level: 'info', time: new Date().toISOString(), ...fields })
  return `${withoutCredentials(line.replace(/[^\x20-\x7e]/g, escapeUnits))}\n`
}

/**
 * Opens the file that audit lines are added to, for its owner only if it is new.
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

function writeLine(line: string, terminal: Terminal, file: number | undefined): void {
  terminal.err(line)
  if (file === undefined) return
  try {
    writeSync(file, line)
  } catch (error) {
    const message = `the line above is not in the audit file: ${(error as Error).message}. The result is not shown`
    throw new CommandError(message, exitCodes.ioError, { cause: error })
  }
}

/** A command's work after its commit: what to record, and then how to tell its result. */
export interface Audited {
  readonly fields: AuditFields
  readonly tell: () => void
}

type WriteRecord = (fields: AuditFields) => void

/** Opens the audit file, if one is set, for as long as `use` records what a command does. */
async function withRecord(
  terminal: Terminal,
  flags: Flags,
  action: AuditedAction,
  use: (record: WriteRecord) => Promise<void>,
): Promise<void> {
  const { auditFile, sudoUser } = loadConfig(flags)
  const file = openAuditFile(auditFile)
  const who = { user: userName(), ...(sudoUser === undefined ? {} : { sudoUser }) }
  try {
    await use((fields) =>
      writeLine(formatAuditLine({ audit: action, ...who, ...fields }), terminal, file),
    )
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

async function recordOutcome(
  record: WriteRecord,
  about: AuditFields,
  work: () => Promise<Audited>,
): Promise<void> {
  const { fields, tell } = await work().catch((error: Error) => {
    record({ outcome: 'failed', ...about, reason: error.message })
    throw error
  })
  record({ outcome: 'done', ...about, ...fields })
  tell()
}

/**
 * Does a command's work and records who did what when, with which outcome: on standard error, and
 * synced in the audit file where one is set. The result is told after it was recorded, so that
 * nobody has a token that no record names. `about` is recorded however it ends.
 * @throws CommandError before anything is done when the audit file cannot be opened.
 */
export function audit(
  terminal: Terminal,
  flags: Flags,
  action: AuditedAction,
  about: AuditFields,
  work: () => Promise<Audited>,
): Promise<void> {
  return withRecord(terminal, flags, action, (record) => recordOutcome(record, about, work))
}

/** As audit, for work on a store that is opened for it. */
export function withAudit(
  terminal: Terminal,
  flags: Flags,
  action: AuditedAction,
  use: (store: Store) => Promise<Audited>,
): Promise<void> {
  return withRecord(terminal, flags, action, async (record) => {
    let isOpen = false
    try {
      await withStore(terminal, flags, (store) => {
        isOpen = true
        return recordOutcome(record, { store: store.description }, () => use(store))
      })
    } catch (error) {
      if (!isOpen) record({ outcome: 'failed', reason: (error as Error).message })
      throw error
    }
  })
}
