import { statSync } from 'node:fs'
import type { Command } from 'commander'
import { type Flags, loadConfig } from '../config/config.ts'
import type { Copies } from '../store/engine.ts'
import { describeCount } from '../text/describe-count.ts'
import { addSettingFlags, copiesOf } from './command.ts'
import { refuseExisting } from './failures.ts'
import { copyWithProgress, describePace } from './progress.ts'
import type { Terminal } from './terminal.ts'

async function backUp(source: Copies, target: string, terminal: Terminal): Promise<void> {
  refuseExisting(target)
  const startedAt = performance.now()
  const about = { source: source.file, target, consequence: 'There is no backup' }
  const { plants, tokens, noteError } = await copyWithProgress(terminal, about, (options) =>
    source.backUp(target, options),
  )
  const bytes = statSync(target).size
  terminal.err(
    `${target} holds ${describeCount(plants, 'plant')} and ${describeCount(tokens, 'token')}, ` +
      'was checked to its last page, and is on the disk.\n' +
      `  Copied ${describePace({ startedAt, count: plants, bytes })}.\n`,
  )
  if (noteError === undefined) return
  terminal.err(`The server does not know of this backup: ${noteError}\n`)
}

/** `backup FILE` */
export function addBackupCommand(program: Command, terminal: Terminal): void {
  addSettingFlags(program.command('backup'), ['databaseUrl'])
    .description('copy a SQLite store into one file; servers may run')
    .argument('<file>', 'the new file; an existing file is never replaced')
    .addHelpText(
      'after',
      '\nThe copy is checked to its last page before it gets its name. Only its owner can read it. A\n' +
        'backup that was killed leaves FILE.….partial, which can be deleted.\n\n' +
        'Example: plant-store-server backup "plants-$(date +%F).db"',
    )
    .action((file: string, flags: Flags) => {
      const { databaseUrl } = loadConfig(flags)
      const orExport = 'in a format for every engine: plant-store-server export > plants.jsonl'
      return backUp(copiesOf(databaseUrl, 'backup copies', 'backUpBy', orExport), file, terminal)
    })
}
