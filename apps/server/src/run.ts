import type { WriteStream } from 'node:tty'
import { Command, CommanderError } from 'commander'
import { addBackupCommand } from './commands/backup.ts'
import { CommandError, exitCodes } from './commands/command-error.ts'
import { createCommandLines, findGivenSettings } from './commands/command-lines.ts'
import { addConfigCommand } from './commands/config.ts'
import { addDoctorCommand } from './commands/doctor/doctor.ts'
import { addExportCommand } from './commands/export.ts'
import { describeUnavailable } from './commands/failures.ts'
import { addMigrateCommand } from './commands/migrate.ts'
import { addMoveCommand } from './commands/move/move.ts'
import { addOpenApiCommand } from './commands/openapi.ts'
import { PROGRAM } from './commands/program-name.ts'
import { addRestoreCommand } from './commands/restore.ts'
import { addServeCommand } from './commands/serve/serve.ts'
import type { Terminal } from './commands/terminal.ts'
import { addTokenCreate } from './commands/token/create.ts'
import { addTokenList } from './commands/token/list.ts'
import { addTokenRevoke } from './commands/token/revoke.ts'
import { addTokenRotate } from './commands/token/rotate.ts'
import { ConfigError } from './config/config.ts'
import { environmentNameOf, flagOf } from './config/settings.ts'
import { build } from './process/build.ts'
import { setOperatorNames } from './store/operator-names.ts'
import { OutcomeUnknownError, StoreRefusedError, StoreUnavailableError } from './store/store.ts'
import { printable, printableLine } from './text/printable.ts'
import { withoutCredentials } from './text/without-credentials.ts'

/** The streams of the process, unescaped: a Terminal without `draw`. */
export interface Streams extends Omit<Terminal, 'draw'> {
  /** The words that start this program; `plant-store-server` by default. */
  readonly program?: string
}

/** Escapes what commands write, so that no text controls the terminal. */
function terminalOf(streams: Streams): Terminal {
  const { out, err, output, isInteractive, columns, stop, onLogSignal } = streams
  return {
    out: (text) => out(printable(text)),
    err: (text) => err(withoutCredentials(printableLine(text))),
    draw: err,
    output,
    isInteractive,
    columns,
    stop,
    onLogSignal,
  }
}

/** The suggestion that commander adds below an error; arguments in the error may hold line breaks, too. */
const SUGGESTION = /\n(?=\(Did you mean [^\n]*\n$)/
const INDENTED = '\n  '

/** `serve` is the default command, so it takes words: they are refused with the command that was meant. */
function refuseWordsAfterServe(program: Command, command: Command): void {
  const isNamed = command.name() === 'serve' && program.args[0] === 'serve'
  const [word] = command.args
  if (!isNamed || word === undefined || command.args.some((arg) => arg.startsWith('-'))) return
  command.error(`error: too many arguments for 'serve', which takes none: '${word}'`)
}

/** Commander's own `help` takes one word, so it cannot show a command of a group. */
function toHelpFlag(args: readonly string[]): readonly string[] {
  return args[0] === 'help' && args.length > 2 ? [...args.slice(1), '--help'] : args
}

function nameForOperators(program: Command, args: readonly string[]): void {
  const given = findGivenSettings(args)
  const commandLine = createCommandLines(program, given)
  setOperatorNames({
    program: program.name(),
    commandLine,
    databaseUrl: (given.has('databaseUrl') ? flagOf : environmentNameOf)('databaseUrl'),
    allowDataLoss: `${environmentNameOf('allowDataLoss')}=yes`,
    get migrate() {
      return commandLine('migrate')
    },
    get restore() {
      return commandLine('restore')
    },
    get doctor() {
      return commandLine('doctor')
    },
    get move() {
      return commandLine('move')
    },
  })
}

function createProgram(streams: Streams, args: readonly string[]): Command {
  const terminal = terminalOf(streams)
  const program = new Command(streams.program ?? PROGRAM)
  nameForOperators(program, args)
  program
    .description('A plant store over HTTP: 200 means durable.')
    .version(build.version, '-V, --version', 'print the version')
    .showHelpAfterError(`Try: ${program.name()} --help`)
    .configureOutput({
      // Help holds no text from outside.
      writeOut: streams.out,
      writeErr: streams.err,
      getOutHelpWidth: () => Math.min((streams.output as Partial<WriteStream>).columns ?? 80, 100),
      outputError: (text) => terminal.err(text.replace(SUGGESTION, INDENTED)),
    })
    .exitOverride()
    .hook('preAction', refuseWordsAfterServe)
    .addHelpText(
      'after',
      `\n\`${program.name()} serve --help\` lists the settings. Each is also an environment variable:\n` +
        '--body-limit-bytes is PLANT_STORE_BODY_LIMIT_BYTES. A flag beats the environment.',
    )
  addServeCommand(program, terminal)
  const token = program.command('token').description('make, list, revoke and rotate access tokens')
  addTokenCreate(token, terminal)
  addTokenList(token, terminal)
  addTokenRevoke(token, terminal)
  addTokenRotate(token, terminal)
  addExportCommand(program, terminal)
  addBackupCommand(program, terminal)
  addRestoreCommand(program, terminal)
  addMigrateCommand(program, terminal)
  addMoveCommand(program, terminal)
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

/** Runs one command line, without the program's name, and returns the exit code. */
export async function run(args: readonly string[], streams: Streams): Promise<number> {
  try {
    await createProgram(streams, args).parseAsync(toHelpFlag(args), { from: 'user' })
    return exitCodes.ok
  } catch (error) {
    // Commander has printed its errors already; help and version are errors with code 0.
    if (error instanceof CommanderError) return error.exitCode && exitCodes.config
    const { message, exitCode } = describeFailure(error)
    terminalOf(streams).err(`${PROGRAM}: ${message}\n`)
    return exitCode
  }
}
