import { closeSync, writeSync } from 'node:fs'
import type { Logger } from 'pino'
import { DEFAULT_LIFETIME_MS, draftToken } from '../auth/issue-token.ts'
import { userName } from '../process/user-name.ts'
import type { Config } from '../settings/config.ts'
import type { Store, TokenRecord } from '../store/store.ts'
import { type AuditFields, auditFieldsOf, formatAuditLine, openAuditFile } from './audit.ts'
import { CommandError, exitCodes } from './command.ts'

/** The token of a first run, before it is made. */
export interface FirstToken {
  /**
   * Records the token in the audit file, stores it, and gives its text.
   * @throws CommandError before it is stored when the record cannot be written.
   */
  issue(store: Store): Promise<string>
  close(): void
}

/** What cannot be recorded is not made: nobody has a token that no record names. */
function recordIn(file: number, fields: AuditFields): void {
  const line = formatAuditLine({ audit: 'token.create', ...fields })
  try {
    writeSync(file, line)
  } catch (error) {
    const message = `no token was made: cannot write the audit file: ${(error as Error).message}`
    throw new CommandError(message, exitCodes.ioError, { cause: error })
  }
}

async function addAudited(
  store: Store,
  token: TokenRecord,
  file: number,
  who: AuditFields,
): Promise<void> {
  const about = { ...who, store: store.description, ...auditFieldsOf(token) }
  recordIn(file, { outcome: 'done', ...about })
  try {
    await store.tokens.add(token)
  } catch (error) {
    recordIn(file, { outcome: 'failed', ...about, reason: (error as Error).message })
    throw error
  }
}

/** @throws CommandError when the audit file that is set cannot be opened. */
export function openFirstToken({ auditFile, sudoUser }: Config, log: Logger): FirstToken {
  const file = openAuditFile(auditFile)
  const who = { user: userName(), ...(sudoUser === undefined ? {} : { sudoUser }) }
  return {
    async issue(store) {
      const { text, record } = draftToken('first-run', DEFAULT_LIFETIME_MS)
      await (file === undefined ? store.tokens.add(record) : addAudited(store, record, file, who))
      log.info({ audit: 'token.create', ...auditFieldsOf(record) }, 'made the first token')
      return text
    },
    close() {
      if (file !== undefined) closeSync(file)
    },
  }
}
