import type { Command } from 'commander'
import { type Config, type Flags, loadConfig } from '../../config/config.ts'
import type { SettingName } from '../../config/settings.ts'
import { engineOf } from '../../engines.ts'
import { takesJwt } from '../../http/open-authenticate.ts'
import type { HealthCheck } from '../../store/health-check.ts'
import { describeCount } from '../../text/describe-count.ts'
import { printableLine } from '../../text/printable.ts'
import { addSettingFlags } from '../command.ts'
import { CommandError, exitCodes } from '../command-error.ts'
import { unlessStopped } from '../failures.ts'
import type { Terminal } from '../terminal.ts'
import { examineClock } from './examine-clock.ts'
import { examineJwks } from './examine-jwks.ts'
import { examineDescriptors, examineNode } from './examine-process.ts'
import { examineTokens } from './examine-tokens.ts'

const NAMES: SettingName[] = [
  'databaseUrl',
  'connectionLimit',
  'jwksUrl',
  'jwksFile',
  'jwtIssuer',
  'jwtAudience',
  'jwtAlgorithms',
]

function formatCheck(check: HealthCheck): string {
  const line = `${check.level.padEnd(8)} ${check.subject}: ${check.detail}`
  return check.level === 'ok' ? line : `${line.replace(/\.$/, '')}. Try: ${check.fix}`
}

async function examineAll(config: Config, stop: AbortSignal): Promise<HealthCheck[]> {
  const { checks, tokens, recordedTimes, databaseTime } = await engineOf(
    config.databaseUrl,
  ).examine()
  const now = Date.now()
  return [
    ...checks,
    examineClock(now, recordedTimes, databaseTime),
    ...(tokens === undefined ? [] : examineTokens(tokens, now, takesJwt(config))),
    ...(await examineJwks(config, stop)),
    examineDescriptors(config.connectionLimit),
    examineNode(now),
  ]
}

async function examine(config: Config, terminal: Terminal, asJson: boolean): Promise<void> {
  const checks = await examineAll(config, terminal.stop)
  for (const check of checks) {
    terminal.out(printableLine(`${asJson ? JSON.stringify(check) : formatCheck(check)}\n`))
  }
  const failures = checks.filter(({ level }) => level === 'failure').length
  if (failures === 0) return
  throw new CommandError(
    `${describeCount(failures, 'failure')}: see the lines above`,
    exitCodes.failure,
  )
}

/** `doctor [--json]` */
export function addDoctorCommand(program: Command, terminal: Terminal): void {
  addSettingFlags(program.command('doctor'), NAMES)
    .description('check whether 200 means durable on this machine')
    .option('--json', 'print each line as a JSON object: level, subject, detail and fix')
    .addHelpText(
      'after',
      '\nEach line is ok, warning or failure; a warning and a failure say how to fix it. doctor changes\n' +
        'nothing. The exit code is 1 after a failure, else 0. Run it as the user of the server, with its\n' +
        'settings. docs/interface.md#doctor says what it checks, and what it cannot see.',
    )
    .action(({ json = false, ...flags }: Flags & { json?: boolean }) =>
      unlessStopped(
        examine(loadConfig(flags), terminal, json),
        terminal,
        'Not everything was checked',
      ),
    )
}
