import type { Command } from 'commander'
import { type Flags, loadConfig } from '../settings/config.ts'
import type { Copies } from '../store/engine.ts'
import { operatorNames } from '../store/operator-names.ts'
import { describeCount } from '../text/describe-count.ts'
import { addSettingFlags } from './command.ts'
import { copiesOf } from './copies-of.ts'
import { describeStop, describeUncreatable, refuseExisting } from './failures.ts'
import { startProgress } from './progress.ts'
import type { Terminal } from './terminal.ts'

async function backUp(source: Copies, target: string, terminal: Terminal): Promise<void> {
  refuseExisting(target)
  let fraction = 0
  const progress = startProgress(terminal, () => ({ fraction, text: `of ${source.file} copied` }))
  try {
    const { plants, tokens } = await source.backUp(target, {
      signal: terminal.stop,
      onProgress: (done) => {
        fraction = done
      },
    })
    progress.line(
      `${target} holds ${describeCount(plants, 'plant')} and ${describeCount(tokens, 'token')}, ` +
        'was checked to its last page, carries a digest of its content, and is on the disk.',
    )
  } catch (error) {
    const stopped = describeStop(error, terminal, 'There is no backup')
    throw describeUncreatable(stopped, target)
  } finally {
    progress.end()
  }
}

/** `backup FILE` */
export function addBackupCommand(program: Command, terminal: Terminal): void {
  addSettingFlags(program.command('backup'), ['databaseUrl'])
    .description('copy a SQLite store into one file; servers may run')
    .argument('<file>', 'the new file; an existing file is never replaced')
    .addHelpText(
      'after',
      '\nThe copy is checked to its last page before it gets its name. Only its owner can read it, and\n' +
        'restore detects every changed byte. A backup that was killed leaves FILE.….partial, which\n' +
        'can be deleted.\n\n' +
        `Example: ${operatorNames.program} backup "plants-$(date +%F).db"`,
    )
    .action((file: string, options: Flags) => {
      const { databaseUrl } = loadConfig(options)
      const orExport = `in a format for every engine: ${operatorNames.commandLine('export')} > plants.jsonl`
      const source = copiesOf(databaseUrl, 'backup copies', 'backUpBy', orExport)
      return backUp(source, file, terminal)
    })
}
