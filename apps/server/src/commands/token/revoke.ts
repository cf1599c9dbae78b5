import type { Command } from 'commander'
import { type Flags, loadConfig } from '../../config/config.ts'
import { displayName } from '../../text/display-name.ts'
import { AUDITED_SETTINGS, auditFieldsOf, withAudit } from '../audit.ts'
import { addSettingFlags } from '../command.ts'
import type { Terminal } from '../terminal.ts'
import { findToken } from './report.ts'

/** `token revoke ID` */
export function addTokenRevoke(token: Command, terminal: Terminal): void {
  addSettingFlags(token.command('revoke'), AUDITED_SETTINGS)
    .description('end a token now')
    .argument('<id>', 'its id, as `token list` shows it')
    .action((id: string, options: Flags) =>
      withAudit(
        { terminal, config: loadConfig(options), action: 'token.revoke' },
        async (store) => {
          const token = await findToken(store, id)
          const shown = `Token ${id} (${displayName(token.name)})`
          const isNew = await store.tokens.revoke(id, Date.now())
          const message = isNew
            ? `${shown} is revoked; running servers refuse it within 5 s.\n`
            : `${shown} was revoked before.\n`
          const fields = { ...auditFieldsOf(token), wasRevokedBefore: !isNew }
          return { fields, report: () => terminal.err(message) }
        },
      ),
    )
}
