import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { isUsable } from '../auth/authenticate.ts'
import { type Flags, loadConfig } from '../settings/config.ts'
import type { Copies, Restored } from '../store/engine.ts'
import { type Audited, audit } from './audit.ts'
import { addSettingFlags, CommandError, exitCodes, type Terminal } from './command.ts'
import { copiesOf } from './copies-of.ts'
import { describeStop, describeUncreatable } from './failures.ts'
import { describeCount, startProgress } from './progress.ts'

const OR_LOAD = 'for what export wrote: plant-store-server load plants.jsonl'

const NO_DIGEST =
  'It carries no digest, as those of earlier programs: a changed byte inside a name would not show.'

function describe(
  backup: string,
  target: string,
  { plants, tokens, isDigested }: Restored,
): string {
  return (
    `${target} holds ${describeCount(plants, 'plant')} and ${describeCount(tokens, 'token')} ` +
    `of ${backup}.\n  ${isDigested ? 'They are what its digest is of.' : NO_DIGEST}\n` +
    '  Tokens are as they were then. Try: plant-store-server token list, ' +
    'and revoke again what was revoked since.\n'
  )
}

async function restore(backup: string, target: Copies, terminal: Terminal): Promise<Audited> {
  let fraction = 0
  const progress = startProgress(terminal, () => ({ fraction, text: `of ${backup} copied` }))
  try {
    const restored = await target.restore(backup, {
      signal: terminal.stop,
      onProgress: (done) => {
        fraction = done
      },
    })
    const { tokens, addedTokens } = restored
    const usable = addedTokens.filter((token) => isUsable(token, Date.now()))
    return {
      fields: { tokens, usableTokenIds: usable.map(({ id }) => id) },
      tell: () => terminal.err(describe(backup, target.file, restored)),
    }
  } catch (error) {
    const stopped = describeStop(error, terminal, 'Nothing was restored')
    throw describeUncreatable(stopped, target.file)
  } finally {
    progress.end()
  }
}

function refuseMissing(backup: string): void {
  if (existsSync(backup)) return
  throw new CommandError(`cannot read ${backup}: there is no such file`, exitCodes.noInput)
}

/** `restore FILE` */
export function addRestoreCommand(program: Command, terminal: Terminal): void {
  addSettingFlags(program.command('restore'), ['databaseUrl', 'auditFile'])
    .description('fill a SQLite store that holds no plants from a backup')
    .argument('<file>', 'what `backup` made')
    .addHelpText(
      'after',
      '\nAll or nothing: the backup is checked to its last byte before. Tokens that the store has\n' +
        'already stay.\n\n' +
        'Example: plant-store-server restore plants-2026-11-20.db',
    )
    .action((file: string, options: Flags) => {
      const store = copiesOf(loadConfig(options).databaseUrl, 'restore fills', 'restoreBy', OR_LOAD)
      refuseMissing(file)
      const about = { store: resolve(store.file), backup: resolve(file) }
      return audit(terminal, options, 'restore', about, () => restore(file, store, terminal))
    })
}
