import { closeSync, openSync, writeSync } from 'node:fs'
import type { Config } from '../config/config.ts'
import { userName } from '../process/user-name.ts'
import type { TokenRecord } from '../store/store.ts'
import { escapeUnits } from '../text/printable.ts'
import { formatForPeople } from '../text/readable-line.ts'
import { withoutCredentials } from '../text/without-credentials.ts'
import { CommandError, exitCodes } from './command-error.ts'
import type { Terminal } from './terminal.ts'

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

/** Each write is synced; a sync of its own is forbidden under Node's permission model. */
function openFile(path: string): number {
  try {
    return openSync(path, 'as', 0o600)
  } catch (error) {
    const message = `nothing was done: cannot write the audit file: ${(error as Error).message}`
    throw new CommandError(message, exitCodes.cannotCreate, { cause: error })
  }
}

/**
 * Opens the audit file to add lines to it; a new one is for its owner only. `record` shows what a
 * command did, and syncs it in the file if one is set; it throws CommandError where it cannot.
 * @throws CommandError when the file cannot be opened.
 */
export function openAudit(
  { auditFile, sudoUser }: Config,
  action: string,
  show: (line: string) => void,
) {
  const file = auditFile === undefined ? undefined : openFile(auditFile)
  const who = { audit: action, user: userName(), ...(sudoUser === undefined ? {} : { sudoUser }) }
  return {
    record(fields: AuditFields) {
      const line = formatAuditLine({ ...who, ...fields })
      show(line)
      if (file === undefined) return
      try {
        writeSync(file, line)
      } catch (error) {
        const message = `cannot write the audit file: ${(error as Error).message}`
        throw new CommandError(`${message}. The result is not shown`, exitCodes.ioError, {
          cause: error,
        })
      }
    },
    close() {
      if (file !== undefined) closeSync(file)
    },
  }
}

/** The work of a command after its commit: what to record, and then how to show the result. */
export interface Audited {
  readonly fields: AuditFields
  readonly report: () => void
}

/**
 * Does a command's work and records who did what when, and how it ended. The result is shown after
 * it is recorded, so that nobody has a token without a record. `about` is read when the work is over.
 * @throws CommandError before the work when the audit file cannot be opened.
 */
export async function audit(
  action: string,
  config: Config,
  terminal: Terminal,
  about: AuditFields,
  work: () => Promise<Audited>,
): Promise<void> {
  const show = (line: string) =>
    terminal.draw(terminal.isInteractive ? formatForPeople(line) : line)
  const { record, close } = openAudit(config, action, show)
  try {
    const { fields, report } = await work().catch((error: Error) => {
      record({ outcome: 'failed', ...about, reason: error.message })
      throw error
    })
    record({ outcome: 'done', ...about, ...fields })
    report()
  } finally {
    close()
  }
}
