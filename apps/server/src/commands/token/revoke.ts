import type { Command } from 'commander'
import type { Flags } from '../../config.ts'
import { addSettingFlags, type Terminal, withStore } from '../command.ts'
import { findToken } from './report.ts'

/** `token revoke ID` */
export function addTokenRevoke(token: Command, terminal: Terminal): void {
  addSettingFlags(token.command('revoke'), ['databaseUrl', 'allowDataLoss'])
    .description('end a token now')
    .argument('<id>', 'its id, as `token list` shows it')
    .action((id: string, options: Flags) =>
      withStore(terminal, options, async (store) => {
        const { name } = await findToken(store, id)
        const isNew = await store.tokens.revoke(id, Date.now())
        terminal.err(
          isNew
            ? `Token ${id} (${name}) is revoked; running servers refuse it within 5 s.\n`
            : `Token ${id} (${name}) was revoked before.\n`,
        )
      }),
    )
}
