import { printableLine } from '@plant-store/plant-files'
import type { Command } from 'commander'
import { engineOf } from '../../engines/engines.ts'
import { takesJwt } from '../../service/open-authenticate.ts'
import { type Config, type Flags, loadConfig } from '../../settings/config.ts'
import type { SettingName } from '../../settings/settings.ts'
import type { HealthCheck } from '../../store/health-check.ts'
import { describeCount } from '../../text/describe-count.ts'
import { addSettingFlags } from '../command.ts'
import { CommandError, exitCodes } from '../command-error.ts'
import { unlessStopped } from '../failures.ts'
import type { Terminal } from '../terminal.ts'
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

function formatCheck(check: HealthCheck): string {
  const line = `${check.level.padEnd(8)} ${check.subject}: ${check.detail}`
  return check.level === 'ok' ? `${line}\n` : `${line}. Try: ${check.fix}\n`
}

async function examine(config: Config, terminal: Terminal): Promise<void> {
  const { checks, tokens, recordedTimes } = await engineOf(config.databaseUrl).examine()
  const now = Date.now()
  const all = [
    ...checks,
    examineClock(now, recordedTimes),
    ...(tokens === undefined ? [] : examineTokens(tokens, now, takesJwt(config))),
    ...(await examineJwks(config, terminal.stop)),
  ]
  for (const check of all) terminal.out(printableLine(formatCheck(check)))
  const failures = all.filter(({ level }) => level === 'failure').length
  if (failures === 0) return
  throw new CommandError(
    `${describeCount(failures, 'failure')}: see the lines above`,
    exitCodes.failure,
  )
}

/** `doctor` */
export function addDoctorCommand(program: Command, terminal: Terminal): void {
  addSettingFlags(program.command('doctor'), NAMES)
    .description('check whether 200 means durable on this machine')
    .addHelpText(
      'after',
      '\nEach line is ok, warning or failure; a warning and a failure say how to fix it. doctor changes\n' +
        'nothing. The exit code is 1 after a failure, else 0.',
    )
    .action((options: Flags) =>
      unlessStopped(examine(loadConfig(options), terminal), terminal, 'Not everything was checked'),
    )
}
