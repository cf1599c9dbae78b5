import { statSync } from 'node:fs'
import { join, parse } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { type Flags, loadConfig } from '../config/config.ts'
import type { Copies, CopyOptions } from '../store/engine.ts'
import { describeCount } from '../text/describe-count.ts'
import { addSettingFlags } from './command.ts'
import { CommandError, exitCodes } from './command-error.ts'
import { copiesOf, NO_DIGEST, withProgress } from './copies-of.ts'
import { describeStop, describeUncreatable, refuseExisting, refuseMissing } from './failures.ts'
import { describePace } from './progress.ts'
import type { Terminal } from './terminal.ts'

interface BackupFlags extends Flags {
  readonly folder?: string
  readonly keep?: number
  readonly verify?: boolean
}

async function backUp(
  source: Copies,
  target: string,
  makesFolder: boolean,
  terminal: Terminal,
): Promise<void> {
  refuseExisting(target)
  const startedAt = performance.now()
  try {
    const { plants, tokens, noteError } = await withProgress(
      terminal,
      `of ${source.file} backed up`,
      (options) => source.backUp(target, { ...options, makesFolder }),
    )
    const bytes = statSync(target).size
    terminal.err(
      `${target} holds ${describeCount(plants, 'plant')} and ${describeCount(tokens, 'token')}, ` +
        'was checked to its last page, carries a digest of its content, and is on the disk.\n' +
        `  Copied ${describePace({ startedAt, count: plants, bytes })}.\n`,
    )
    if (noteError === undefined) return
    terminal.err(`The server does not know of this backup: ${noteError}\n`)
  } catch (error) {
    const stopped = describeStop(error, terminal, 'There is no backup')
    throw describeUncreatable(stopped, target)
  }
}

async function discardOld(
  source: Copies,
  newest: string,
  keep: number,
  terminal: Terminal,
): Promise<void> {
  const options: CopyOptions = { signal: terminal.stop }
  const { deleted, spared } = await source.discardOld(newest, keep, options).catch((error) => {
    const reason = describeStop(error, terminal, 'The new backup is good') as Error
    if (reason instanceof CommandError) throw reason
    const message = `${newest} is good, but an older backup could not be deleted: ${reason.message}`
    throw new CommandError(message, exitCodes.cannotCreate, { cause: error })
  })
  for (const file of deleted) terminal.err(`Deleted ${file}.\n`)
  for (const { file, reason } of spared) terminal.err(`${file} stays, because it ${reason}\n`)
}

/** `plants-2026-11-22T21-36-25Z.db` for `plants.db` */
function nameNow(file: string): string {
  const time = new Date().toISOString().replace(/\.\d+/, '').replaceAll(':', '-')
  return `${parse(file).name}-${time}.db`
}

async function backUpInto(
  source: Copies,
  { folder, keep }: { readonly folder: string; readonly keep: number | undefined },
  terminal: Terminal,
): Promise<void> {
  const target = join(folder, nameNow(source.file))
  await backUp(source, target, true, terminal)
  if (keep !== undefined) await discardOld(source, target, keep, terminal)
}

async function verify(source: Copies, file: string, terminal: Terminal): Promise<void> {
  refuseMissing(file)
  const startedAt = performance.now()
  try {
    const { plants, tokens, schemaVersion, isDigested, sha256 } = await withProgress(
      terminal,
      `of ${file} read`,
      (options) => source.verify(file, options),
    )
    const bytes = statSync(file).size
    terminal.out(
      `${file} is good: ${describeCount(plants, 'plant')} and ${describeCount(tokens, 'token')}, ` +
        `schema version ${schemaVersion}.\n` +
        `  ${isDigested ? 'They match its digest' : `${NO_DIGEST} Their SHA-256`}: ${sha256}\n` +
        `  Read ${describePace({ startedAt, count: plants, bytes })}.\n`,
    )
  } catch (error) {
    throw describeStop(error, terminal, 'Nothing was changed')
  }
}

function readKeep(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Write how many backups to keep, from 1 to 9999.')
}

const USAGE = 'Try: backup FILE, backup --folder FOLDER --keep 7, or backup --verify FILE'

function run(file: string | undefined, flags: BackupFlags, terminal: Terminal): Promise<void> {
  const { folder, keep, verify: isVerified, ...settings } = flags
  if ((file === undefined) === (folder === undefined)) {
    throw new CommandError(`name either a file or a folder. ${USAGE}`, exitCodes.config)
  }
  if ((keep !== undefined || isVerified) && (folder === undefined) !== (isVerified ?? false)) {
    throw new CommandError(
      `--keep is for --folder, --verify for a file. ${USAGE}`,
      exitCodes.config,
    )
  }
  const { databaseUrl } = loadConfig(settings)
  const orExport = `in a format for every engine: plant-store-server export > plants.jsonl`
  const source = copiesOf(databaseUrl, 'backup copies', 'backUpBy', orExport)
  if (folder !== undefined) return backUpInto(source, { folder, keep }, terminal)
  return isVerified
    ? verify(source, file ?? '', terminal)
    : backUp(source, file ?? '', false, terminal)
}

/** `backup FILE`, `backup --folder FOLDER [--keep COUNT]`, `backup --verify FILE` */
export function addBackupCommand(program: Command, terminal: Terminal): void {
  addSettingFlags(program.command('backup'), ['databaseUrl'])
    .description('copy a SQLite store into one file; servers may run')
    .argument('[file]', 'the new file; an existing file is never replaced')
    .option('--folder <folder>', 'instead of a file: a new file in it, named by store and time')
    .option('--keep <count>', 'afterwards delete older backups in the folder but these', readKeep)
    .option('--verify', 'make no backup, but read FILE to its last byte and compare its digest')
    .addHelpText(
      'after',
      '\nThe copy is checked to its last page before it gets its name. Only its owner can read it, and\n' +
        'restore detects every changed byte. A backup that was killed leaves FILE.….partial, which\n' +
        'can be deleted.\n\n' +
        '--keep counts the new backup, and deletes only what is a good backup of the same store and\n' +
        'named by time.\n\n' +
        `Examples: plant-store-server backup plants-before-the-move.db\n` +
        `          plant-store-server backup --folder backups --keep 7\n` +
        `          plant-store-server backup --verify plants-before-the-move.db`,
    )
    .action((file: string | undefined, flags: BackupFlags) => run(file, flags, terminal))
}
