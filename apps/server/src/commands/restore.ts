import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { isUsable } from '../auth/tokens.ts'
import { type Flags, loadConfig } from '../config/config.ts'
import type { Copies } from '../store/engine.ts'
import { describeCount } from '../text/describe-count.ts'
import { type Audited, audit } from './audit.ts'
import { addSettingFlags, copiesOf } from './command.ts'
import { refuseMissing } from './failures.ts'
import { copyWithProgress, describePace } from './progress.ts'
import type { Terminal } from './terminal.ts'

async function restore(backup: string, target: Copies, terminal: Terminal): Promise<Audited> {
  const startedAt = performance.now()
  const about = { source: backup, target: target.file, consequence: 'Nothing was restored' }
  const { plants, tokens, restoredTokens } = await copyWithProgress(terminal, about, (options) =>
    target.restore(backup, options),
  )
  const usable = restoredTokens.filter((token) => isUsable(token, Date.now()))
  const pace = describePace({ startedAt, count: plants, bytes: statSync(backup).size })
  return {
    fields: { tokens, usableTokenIds: usable.map(({ id }) => id) },
    report: () =>
      terminal.err(
        `${target.file} holds ${describeCount(plants, 'plant')} and ` +
          `${describeCount(tokens, 'token')} of ${backup}.\n  Restored ${pace}.\n` +
          '  Tokens are as they were then. Try: plant-store-server token list, ' +
          'and revoke again the tokens that were revoked since.\n',
      ),
  }
}

/** `restore FILE` */
export function addRestoreCommand(program: Command, terminal: Terminal): void {
  addSettingFlags(program.command('restore'), ['databaseUrl', 'auditFile'])
    .description('make a SQLite store from a backup, where no store is')
    .argument('<file>', 'the output of `backup`')
    .addHelpText(
      'after',
      '\nAll or nothing: the backup is checked to its last page first, and its copy again. Nothing is\n' +
        'ever replaced: stop the server, and move the files of the old store to another folder before.\n\n' +
        'Example: plant-store-server restore plants-2026-11-20.db',
    )
    .action((file: string, flags: Flags) => {
      const config = loadConfig(flags)
      const orImport = 'for the output of export: plant-store import plants.jsonl, into a server'
      const store = copiesOf(config.databaseUrl, 'restore fills', 'restoreBy', orImport)
      refuseMissing(file)
      const about = { store: resolve(store.file), backup: resolve(file) }
      return audit('restore', config, terminal, about, () => restore(file, store, terminal))
    })
}
