import { takesJwt } from '../auth/authenticate.ts'
import { DEFAULT_LIFETIME_MS, draftToken, isUsable } from '../auth/tokens.ts'
import type { Config } from '../config/config.ts'
import type { Store } from '../store/store.ts'
import { isLoopback } from '../text/loopback.ts'
import { auditFieldsOf, openAudit } from './audit.ts'
import { CommandError, exitCodes } from './command-error.ts'

/**
 * Whether this is the first run of a new store on this machine, which needs a token. Not so where a
 * usable token exists, or where the JWTs of an issuer open the service.
 * @throws CommandError for a server that could let nobody in.
 */
async function needsFirstToken(store: Store, config: Config): Promise<boolean> {
  if (takesJwt(config)) return false
  const tokens = await store.tokens.list()
  if (tokens.some((token) => isUsable(token, Date.now()))) return false
  const isFirstRun = tokens.length === 0 && (await store.countPlants(1)) === 0
  if (isFirstRun && !config.isProduction && isLoopback(config.listen.host)) return true
  throw new CommandError('no token opens the service', exitCodes.config, {
    fix: 'plant-store-server token create --name NAME, and start again',
  })
}

/**
 * Opens what a first token needs; undefined where the store needs none. The function that it gives
 * records the token in the audit file, stores it, and returns its text, and what the log may say. It
 * is called once the server listens, because nobody would see the token of a failed start.
 * @throws CommandError for a server that could let nobody in, or when the audit file cannot be opened.
 */
export async function openFirstToken(store: Store, config: Config) {
  if (!(await needsFirstToken(store, config))) return undefined
  const { record, close } = openAudit(config, 'token.create', () => {})
  return async () => {
    const { text, record: token } = draftToken('first-run', DEFAULT_LIFETIME_MS)
    const about = { store: store.description, ...auditFieldsOf(token) }
    record({ outcome: 'done', ...about })
    await store.tokens.add(token).catch((error: Error) => {
      record({ outcome: 'failed', ...about, reason: error.message })
      throw error
    })
    close()
    return { text, audited: { audit: 'token.create', ...auditFieldsOf(token) } }
  }
}
