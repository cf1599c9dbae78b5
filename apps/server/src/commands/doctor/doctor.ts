import type { Command } from 'commander'
import { takesJwt } from '../../auth/open-authenticate.ts'
import { type Config, type Flags, loadConfig } from '../../config.ts'
import { printableLine } from '../../printable.ts'
import type { SettingName } from '../../settings.ts'
import type { Examination, Finding } from '../../store/finding.ts'
import { examinePostgres } from '../../store/postgres/examine.ts'
import { examineSqlite } from '../../store/sqlite/examine.ts'
import { addSettingFlags, CommandError, exitCodes, type Terminal } from '../command.ts'
import { unlessStopped } from '../failures.ts'
import { describeCount } from '../progress.ts'
import { sqlitePathOf } from '../require-sqlite.ts'
import { examineClock } from './examine-clock.ts'
import { examineJwks } from './examine-jwks.ts'
import { examineTokens } from './examine-tokens.ts'

const NAMES: SettingName[] = [
  'databaseUrl',
  'jwksUrl',
  'jwksFile',
  'jwtIssuer',
  'jwtAudience',
  'jwtAlgorithms',
]

function examineStore(databaseUrl: string): Promise<Examination> {
  const path = sqlitePathOf(databaseUrl)
  return path === undefined ? examinePostgres(databaseUrl) : examineSqlite(path)
}

function formatFinding(finding: Finding): string {
  const line = `${finding.level.padEnd(8)} ${finding.subject}: ${finding.detail}`
  return finding.level === 'ok' ? `${line}\n` : `${line}. Try: ${finding.mend}\n`
}

async function examine(config: Config, terminal: Terminal): Promise<void> {
  const { findings, tokens, recordedTimes } = await examineStore(config.databaseUrl)
  const now = Date.now()
  const all = [
    ...findings,
    examineClock(now, recordedTimes),
    ...(tokens === undefined ? [] : examineTokens(tokens, now, takesJwt(config))),
    ...(await examineJwks(config, terminal.stop)),
  ]
  for (const finding of all) terminal.out(printableLine(formatFinding(finding)))
  const failures = all.filter(({ level }) => level === 'failure').length
  if (failures === 0) return
  throw new CommandError(`${describeCount(failures, 'failure')}, as told above`, exitCodes.failure)
}

/** `doctor` */
export function addDoctorCommand(program: Command, terminal: Terminal): void {
  addSettingFlags(program.command('doctor'), NAMES)
    .description('check what "200 means durable" rests on, on this machine')
    .addHelpText(
      'after',
      '\nEach line is ok, warning or failure, the last two with what to do. Nothing is changed.\n' +
        'The exit code is 1 after a failure, else 0.',
    )
    .action((options: Flags) =>
      unlessStopped(examine(loadConfig(options), terminal), terminal, 'Not all was looked at'),
    )
}
