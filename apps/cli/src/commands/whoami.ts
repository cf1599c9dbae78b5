import { isPlantStoreError } from '@plant-store/client'
import type { Command } from 'commander'
import { CliError } from '../cli-error.ts'
import {
  addConnectionOptions,
  type ConnectionOptions,
  createClient,
  resolveTarget,
} from '../connection.ts'
import { exitCodeOf, hintOf } from '../failure.ts'
import type { Terminal } from '../terminal.ts'
import { describeToken } from '../token.ts'

const EXAMPLES = `
Examples:
  plant-store whoami
  plant-store whoami --profile test`

async function whoami(options: ConnectionOptions, terminal: Terminal): Promise<void> {
  const target = await resolveTarget(options, terminal)
  const { baseUrl, token } = target
  const client = createClient(target, { maxRetries: 1 })
  terminal.out(`URL    ${baseUrl.value} (${baseUrl.from})\n`)
  terminal.out(`Token  ${describeToken(token.value)} (${token.from})\n`)
  try {
    await client.checkToken({ signal: terminal.stop })
  } catch (error) {
    if (!isPlantStoreError(error)) throw error
    throw new CliError(error.message, exitCodeOf(error), { hint: hintOf(error), cause: error })
  }
  terminal.out('The plant store takes the token.\n')
}

export function addWhoamiCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('whoami')
    .description('show which URL and token are used, and whether the plant store takes them')
  addConnectionOptions(command)
    .addHelpText('after', EXAMPLES)
    .action((options: ConnectionOptions) => whoami(options, terminal))
}
