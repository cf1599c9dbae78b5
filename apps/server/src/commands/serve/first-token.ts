import { closeSync, writeSync } from 'node:fs'
import type { Logger } from 'pino'
import { takesJwt } from '../../auth/authenticate.ts'
import { DEFAULT_LIFETIME_MS, draftToken, isUsable } from '../../auth/tokens.ts'
import type { Config } from '../../config/config.ts'
import type { Store, TokenRecord } from '../../store/store.ts'
import { isLoopback } from '../../text/loopback.ts'
import {
  type AuditFields,
  auditFieldsOf,
  formatAuditLine,
  openAuditFile,
  whoRuns,
} from '../audit.ts'
import { CommandError, exitCodes } from '../command-error.ts'

/** The token of a first run, before it is issued. */
export interface FirstToken {
  /**
   * Records the token in the audit file, stores it, and returns its text.
   * @throws CommandError before it is stored when the record cannot be written.
   */
  issue(): Promise<string>
  close(): void
}

/**
 * Whether this is the first run of a new store on this machine, which needs a token. Not so where a
 * usable token exists, or where the JWTs of an issuer open the service.
 * @throws CommandError for a server that could let nobody in.
 */
async function needsFirstToken(store: Store, config: Config): Promise<boolean> {
  if (takesJwt(config)) return false
  const tokens = await store.tokens.list()
  if (tokens.some((token) => isUsable(token, Date.now()))) return false
  const isFirstRun = tokens.length === 0 && (await store.isEmpty())
  if (isFirstRun && !config.isProduction && isLoopback(config.listen.host)) return true
  throw new CommandError(
    'no token opens the service. Make one, and start again:\n' +
      `  plant-store-server token create --name NAME`,
    exitCodes.config,
  )
}

/** No token is made without a record of it. */
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

/**
 * Opens what a first token needs; undefined where the store needs none.
 * @throws CommandError for a server that could let nobody in, or when the audit file cannot be opened.
 */
export async function openFirstToken(
  store: Store,
  config: Config,
  log: Logger,
): Promise<FirstToken | undefined> {
  if (!(await needsFirstToken(store, config))) return undefined
  const file = openAuditFile(config.auditFile)
  return {
    async issue() {
      const { text, record } = draftToken('first-run', DEFAULT_LIFETIME_MS)
      await (file === undefined
        ? store.tokens.add(record)
        : addAudited(store, record, file, whoRuns(config)))
      log.info({ audit: 'token.create', ...auditFieldsOf(record) }, 'made the first token')
      return text
    },
    close() {
      if (file !== undefined) closeSync(file)
    },
  }
}
