import { Command, CommanderError } from 'commander'
import { addBackupCommand } from './commands/backup.ts'
import { CommandError, exitCodes, type Terminal } from './commands/command.ts'
import { addConfigCommand } from './commands/config.ts'
import { addDoctorCommand } from './commands/doctor/doctor.ts'
import { addExportCommand } from './commands/export.ts'
import { describeUnavailable } from './commands/failures.ts'
import { addLoadCommand } from './commands/load/load.ts'
import { addMigrateCommand } from './commands/migrate.ts'
import { addOpenApiCommand } from './commands/openapi.ts'
import { escapeUnits } from './commands/printable.ts'
import { addRestoreCommand } from './commands/restore.ts'
import { addServeCommand } from './commands/serve.ts'
import { addTokenCreate } from './commands/token/create.ts'
import { addTokenList } from './commands/token/list.ts'
import { addTokenRevoke } from './commands/token/revoke.ts'
import { addTokenRotate } from './commands/token/rotate.ts'
import { ConfigError } from './config.ts'
import { build } from './operations/build.ts'
import { OutcomeUnknownError, StoreRefusedError, StoreUnavailableError } from './store/store.ts'

/** A control character, or a line break that is not commander's own: an argument may hold both. */
const FORGERY = /[^\P{Cc}\n]|\n(?!\(Did you mean |$)/gu

/** Commander shows a wrong argument as it is, which could pass for another line or move a cursor. */
function escapeForgery(text: string): string {
  return text.replace(FORGERY, escapeUnits)
}

/** `serve` is also the command when none is named, so it takes words, to tell which command was meant. */
function refuseWordsAfterServe(program: Command, command: Command): void {
  const isNamed = command.name() === 'serve' && program.args[0] === 'serve'
  const [word] = command.args
  if (!isNamed || word === undefined || command.args.some((arg) => arg.startsWith('-'))) return
  command.error(`error: too many arguments for 'serve', which takes none: '${word}'`)
}

/** Commander's own `help` looks at one word alone, so that it shows no command of a group. */
function toHelpFlag(args: readonly string[]): readonly string[] {
  return args[0] === 'help' && args.length > 2 ? [...args.slice(1), '--help'] : args
}

function createProgram(terminal: Terminal): Command {
  const program = new Command('plant-store-server')
    .description('A plant store over HTTP: 200 means durable.')
    .version(build.version, '-V, --version', 'print the version')
    .showHelpAfterError('Try: plant-store-server --help')
    .configureOutput({
      writeOut: terminal.out,
      writeErr: terminal.err,
      outputError: (text, write) => write(escapeForgery(text)),
    })
    .exitOverride()
    .hook('preAction', refuseWordsAfterServe)
    .addHelpText(
      'after',
      '\n`plant-store-server serve --help` lists the settings. Each is also an environment variable:\n' +
        '--body-limit-bytes is PLANT_STORE_BODY_LIMIT_BYTES. A flag beats the environment.',
    )
  addServeCommand(program, terminal)
  const token = program.command('token').description('make, list, revoke and rotate access tokens')
  addTokenCreate(token, terminal)
  addTokenList(token, terminal)
  addTokenRevoke(token, terminal)
  addTokenRotate(token, terminal)
  addExportCommand(program, terminal)
  addLoadCommand(program, terminal)
  addBackupCommand(program, terminal)
  addRestoreCommand(program, terminal)
  addMigrateCommand(program, terminal)
  addConfigCommand(program, terminal)
  addOpenApiCommand(program, terminal)
  addDoctorCommand(program, terminal)
  return program
}

function describeFailure(error: unknown): { readonly message: string; readonly exitCode: number } {
  if (error instanceof ConfigError) {
    return { message: `nothing was started:\n${error.message}`, exitCode: exitCodes.config }
  }
  if (error instanceof CommandError) return { message: error.message, exitCode: error.exitCode }
  if (error instanceof StoreRefusedError) {
    return { message: error.message, exitCode: exitCodes.unavailable }
  }
  if (error instanceof StoreUnavailableError) {
    return { message: describeUnavailable(error), exitCode: exitCodes.unavailable }
  }
  if (error instanceof OutcomeUnknownError) {
    return { message: error.message, exitCode: exitCodes.ioError }
  }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { message, exitCode: exitCodes.failure }
}

/** Runs one command line, the program's name left out, and gives the exit code. */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    await createProgram(terminal).parseAsync(toHelpFlag(args), { from: 'user' })
    return exitCodes.ok
  } catch (error) {
    // Commander has told its own errors already; help and version come as errors with code 0.
    if (error instanceof CommanderError) return error.exitCode && exitCodes.config
    const { message, exitCode } = describeFailure(error)
    terminal.err(`plant-store-server: ${message}\n`)
    return exitCode
  }
}
