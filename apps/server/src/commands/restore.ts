import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { isUsable } from '../auth/authenticate.ts'
import { type Flags, loadConfig } from '../config/config.ts'
import type { Copies, Restored } from '../store/engine.ts'
import { describeCount } from '../text/describe-count.ts'
import { type Audited, audit } from './audit.ts'
import { addSettingFlags } from './command.ts'
import { copiesOf, NO_DIGEST, withProgress } from './copies-of.ts'
import { describeStop, describeUncreatable, refuseMissing } from './failures.ts'
import { describePace } from './progress.ts'
import type { Terminal } from './terminal.ts'

function describe(
  backup: string,
  target: string,
  { plants, tokens, isDigested, setAside }: Restored,
  pace: string,
): string {
  const keeps =
    setAside && `  What was there before is kept as ${setAside}; no command deletes it.\n`
  return (
    `${target} holds ${describeCount(plants, 'plant')} and ${describeCount(tokens, 'token')} ` +
    `of ${backup}.\n  ${isDigested ? 'They match its digest.' : NO_DIGEST} Restored ${pace}.\n${keeps ?? ''}` +
    `  Tokens are as they were then. Try: plant-store-server token list, ` +
    'and revoke again the tokens that were revoked since.\n'
  )
}

async function restore(
  backup: string,
  target: Copies,
  isSetAside: boolean,
  terminal: Terminal,
): Promise<Audited> {
  const startedAt = performance.now()
  try {
    const restored = await withProgress(terminal, `of ${backup} restored`, (options) =>
      target.restore(backup, { ...options, setAside: isSetAside }),
    )
    const { plants, tokens, addedTokens, setAside } = restored
    const usable = addedTokens.filter((token) => isUsable(token, Date.now()))
    const pace = describePace({ startedAt, count: plants, bytes: statSync(backup).size })
    return {
      fields: {
        tokens,
        usableTokenIds: usable.map(({ id }) => id),
        ...(setAside === undefined ? {} : { setAside }),
      },
      report: () => terminal.err(describe(backup, target.file, restored, pace)),
    }
  } catch (error) {
    const stopped = describeStop(error, terminal, 'Nothing was restored')
    throw describeUncreatable(stopped, target.file)
  }
}

/** `restore FILE` */
export function addRestoreCommand(program: Command, terminal: Terminal): void {
  addSettingFlags(program.command('restore'), ['databaseUrl', 'auditFile'])
    .description('restore a backup into a SQLite store without plants, or in the place of one')
    .argument('<file>', 'the output of `backup`')
    .option('--set-aside', 'keep the files of the present store under names with the time')
    .addHelpText(
      'after',
      '\nAll or nothing: the backup is checked to its last byte first. Tokens that the store has\n' +
        'already stay.\n\n' +
        '--set-aside is for a store that is damaged, incomplete or to be exchanged, while no server\n' +
        'runs. It moves plants.db, plants.db-wal and what else is there to plants.db.set-aside-TIME,\n' +
        'plants.db.set-aside-TIME-wal and so on. If it was killed, run it again.\n\n' +
        `Examples: plant-store-server restore plants-2026-11-20.db\n` +
        `          plant-store-server restore plants-2026-11-20.db --set-aside`,
    )
    .action((file: string, { setAside = false, ...options }: Flags & { setAside?: boolean }) => {
      const config = loadConfig(options)
      const orImport = 'for the output of export: plant-store import plants.jsonl, into a server'
      const store = copiesOf(config.databaseUrl, 'restore fills', 'restoreBy', orImport)
      refuseMissing(file)
      const about = { store: resolve(store.file), backup: resolve(file) }
      return audit({ terminal, config, action: 'restore' }, about, () =>
        restore(file, store, setAside, terminal),
      )
    })
}
