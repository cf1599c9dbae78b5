import type { WriteStream } from 'node:tty'
import { Command, CommanderError } from 'commander'
import { addBackupCommand } from './commands/backup.ts'
import { CommandError, exitCodes } from './commands/command-error.ts'
import { addConfigCommand } from './commands/config.ts'
import { addDoctorCommand } from './commands/doctor.ts'
import { addExportCommand } from './commands/export.ts'
import { describeUnusable, withFix } from './commands/failures.ts'
import { addMigrateCommand } from './commands/migrate.ts'
import { addOpenApiCommand } from './commands/openapi.ts'
import { addRestoreCommand } from './commands/restore.ts'
import { addServeCommand } from './commands/serve.ts'
import type { Terminal } from './commands/terminal.ts'
import { addTokenCommands } from './commands/token.ts'
import { ConfigError } from './config/config.ts'
import { findMeant } from './config/unknown-names.ts'
import { build } from './process/build.ts'
import { OutcomeUnknownError, StoreRefusedError, StoreUnavailableError } from './store/store.ts'
import { printable, printableLine } from './text/printable.ts'
import { withoutCredentials } from './text/without-credentials.ts'

const PROGRAM = 'plant-store-server'

/** The streams of the process, unescaped: a Terminal without `draw`. */
export type Streams = Omit<Terminal, 'draw'>

/** Escapes what commands write, so that no text controls the terminal. */
function terminalOf(streams: Streams): Terminal {
  const { out, err } = streams
  return {
    ...streams,
    out: (text) => out(printable(text)),
    err: (text) => err(withoutCredentials(printableLine(text))),
    draw: err,
  }
}

/** The suggestion that commander adds below an error; arguments in the error may hold line breaks, too. */
const SUGGESTION = /\n(?=\(Did you mean [^\n]*\n$)/

/** `serve` is the default command, so it takes words: they are refused with the command that was meant. */
function refuseWords(program: Command, command: Command): void {
  const [word] = command.args
  if (command.name() !== 'serve' || word === undefined) return
  if (program.args[0] === 'serve') {
    command.error(`error: too many arguments for 'serve', which takes none: '${word}'`)
  }
  const names = program.commands.map((other) => other.name())
  const meant = findMeant(word, names)
  command.error(`error: unknown command '${word}'${meant ? `\n(Did you mean ${meant}?)` : ''}`)
}

/** A flag without its value, which may hold a password. */
const UNKNOWN_VALUE = /(?<=^error: unknown option '--[^=']*)=[\s\S]*(?='\n)/

/** Commander's own `help` takes one word, so it cannot show a command of a group. */
function toHelpFlag(args: readonly string[]): readonly string[] {
  return args[0] === 'help' && args.length > 2 ? [...args.slice(1), '--help'] : args
}

function createProgram(streams: Streams): Command {
  const terminal = terminalOf(streams)
  const program = new Command(PROGRAM)
  program
    .description('A plant store over HTTP: 200 means durable.')
    .version(build.version, '-V, --version', 'print the version')
    .showHelpAfterError(`Try: ${program.name()} --help`)
    .configureOutput({
      // Help holds no text from outside.
      writeOut: streams.out,
      writeErr: streams.err,
      getOutHelpWidth: () => Math.min((streams.output as Partial<WriteStream>).columns ?? 80, 100),
      outputError: (text) =>
        terminal.err(text.replace(UNKNOWN_VALUE, '').replace(SUGGESTION, '\n  ')),
    })
    .exitOverride()
    .hook('preAction', refuseWords)
    .addHelpText(
      'after',
      `\n\`${program.name()} serve --help\` lists the settings. Each is also an environment variable:\n` +
        '--body-limit-bytes is PLANT_STORE_BODY_LIMIT_BYTES. A flag beats the environment.',
    )
  addServeCommand(program, terminal)
  addTokenCommands(program, terminal)
  addExportCommand(program, terminal)
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
  if (error instanceof CommandError) {
    return { message: withFix(error.message, error), exitCode: error.exitCode }
  }
  if (error instanceof StoreRefusedError || error instanceof StoreUnavailableError) {
    return { message: describeUnusable(error), exitCode: exitCodes.unavailable }
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
    await createProgram(streams).parseAsync(toHelpFlag(args), { from: 'user' })
    return exitCodes.ok
  } catch (error) {
    // Commander has printed its errors already; help and version are errors with code 0.
    if (error instanceof CommanderError) return error.exitCode && exitCodes.config
    const { message, exitCode } = describeFailure(error)
    terminalOf(streams).err(`${PROGRAM}: ${message}\n`)
    return exitCode
  }
}
