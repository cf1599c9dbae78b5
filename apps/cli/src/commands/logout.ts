import type { Command } from 'commander'
import { CliError } from '../cli-error.ts'
import { exitCodes } from '../exit-codes.ts'
import { DEFAULT_PROFILE, listProfiles, removeProfile } from '../profiles.ts'
import type { Terminal } from '../terminal.ts'

interface LogoutOptions {
  readonly profile?: string
}

const EXAMPLES = `
Examples:
  plant-store logout
  plant-store logout --profile test`

async function logout(options: LogoutOptions, terminal: Terminal): Promise<void> {
  const { profile = terminal.environment.PLANT_STORE_PROFILE ?? DEFAULT_PROFILE } = options
  if (await removeProfile(profile)) {
    terminal.err(`Removed the profile ${profile}. Its token is still valid, until it is revoked.`)
    return
  }
  const names = await listProfiles()
  throw new CliError(
    `there is no profile ${profile}${names.length === 0 ? '' : `; there are: ${names.join(', ')}`}`,
    exitCodes.usage,
  )
}

export function addLogoutCommand(program: Command, terminal: Terminal): void {
  program
    .command('logout')
    .description('remove a saved URL and token from this machine')
    .option('--profile <name>', `the profile to remove (default: ${DEFAULT_PROFILE})`)
    .addHelpText('after', EXAMPLES)
    .action((options: LogoutOptions) => logout(options, terminal))
}
