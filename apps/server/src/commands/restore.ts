import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { isUsable } from '../auth/authenticate.ts'
import { type Flags, loadConfig } from '../settings/config.ts'
import type { Copies, Restored } from '../store/engine.ts'
import { operatorNames } from '../store/operator-names.ts'
import { describeCount } from '../text/describe-count.ts'
import { type Audited, audit } from './audit.ts'
import { addSettingFlags } from './command.ts'
import { CommandError, exitCodes } from './command-error.ts'
import { copiesOf } from './copies-of.ts'
import { describeStop, describeUncreatable } from './failures.ts'
import { startProgress } from './progress.ts'
import type { Terminal } from './terminal.ts'

const NO_DIGEST =
  'It carries no digest, because an earlier program made it: a changed byte inside a name stays unnoticed.'

function describe(
  backup: string,
  target: string,
  { plants, tokens, isDigested }: Restored,
): string {
  return (
    `${target} holds ${describeCount(plants, 'plant')} and ${describeCount(tokens, 'token')} ` +
    `of ${backup}.\n  ${isDigested ? 'They match its digest.' : NO_DIGEST}\n` +
    `  Tokens are as they were then. Try: ${operatorNames.commandLine('token list')}, ` +
    'and revoke again the tokens that were revoked since.\n'
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
      report: () => terminal.err(describe(backup, target.file, restored)),
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
    .description('restore a backup into a SQLite store without plants')
    .argument('<file>', 'the output of `backup`')
    .addHelpText(
      'after',
      '\nAll or nothing: the backup is checked to its last byte first. Tokens that the store has\n' +
        'already stay.\n\n' +
        `Example: ${operatorNames.program} restore plants-2026-11-20.db`,
    )
    .action((file: string, options: Flags) => {
      const config = loadConfig(options)
      const orLoad = `for the output of export: ${operatorNames.commandLine('load plants.jsonl')}`
      const store = copiesOf(config.databaseUrl, 'restore fills', 'restoreBy', orLoad)
      refuseMissing(file)
      const about = { store: resolve(store.file), backup: resolve(file) }
      return audit({ terminal, config, action: 'restore' }, about, () =>
        restore(file, store, terminal),
      )
    })
}
