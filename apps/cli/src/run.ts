import { Command, CommanderError } from 'commander'
import manifest from '../package.json' with { type: 'json' }
import { CliError, exitCodes } from './cli-error.ts'
import { addCheckCommand } from './commands/check.ts'
import { addCreateCommand } from './commands/create.ts'
import { addImportCommand } from './commands/import.ts'
import { addLoginCommand } from './commands/login.ts'
import type { Terminal } from './terminal.ts'
import { refuseTokens } from './token.ts'

const ABOUT = `
Examples:
  plant-store login https://plants.example
  plant-store create 9007199254740993 Fern --tag indoor
  plant-store import plants.csv

Exit codes:
  ${exitCodes.ok}    all is stored, or done
  ${exitCodes.failure}    something unforeseen
  ${exitCodes.usage}    wrong usage or input
  ${exitCodes.rejected}    some rows, or the one plant, were rejected
  ${exitCodes.notAllowed}    not allowed: the token is missing, refused, or may not create plants
  ${exitCodes.unreachable}    unreachable, or the outcome is unknown: try again later
  ${exitCodes.interrupted}  interrupted

Environment:
  PLANT_STORE_BASE_URL, PLANT_STORE_TOKEN   used instead of a login
  NODE_EXTRA_CA_CERTS                       a file of certificates to trust, too`

/** The suggestion that commander adds below an error, whose arguments may hold line breaks, too. */
const SUGGESTION = /\n\((Did you mean [^\n]*)\)\n?$/

function reportUsage(text: string, terminal: Terminal): void {
  const [suggestion = '', words] = SUGGESTION.exec(text) ?? []
  const error = text.slice(0, text.length - suggestion.length).replace(/^error: /, '')
  terminal.err(`plant-store: ${error.trimEnd()}`)
  if (words !== undefined) terminal.err(`  ${words}`)
}

function createProgram(terminal: Terminal): Command {
  const program = new Command('plant-store')
    .description('Put plants into a plant store, and know what became of each.')
    .version(manifest.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .exitOverride()
    .configureOutput({
      // Help holds no text from outside.
      writeOut: terminal.out,
      writeErr: terminal.draw,
      outputError: (text) => reportUsage(text, terminal),
    })
    .showHelpAfterError('  Try: plant-store --help')
    .addHelpText('after', ABOUT)
  program.commandsGroup('Plants:')
  addCreateCommand(program, terminal)
  addImportCommand(program, terminal)
  addCheckCommand(program, terminal)
  program.commandsGroup('Where to:')
  addLoginCommand(program, terminal)
  for (const command of program.commands) {
    command.showHelpAfterError(`  Try: plant-store ${command.name()} --help`)
  }
  return program
}

function report(error: unknown, terminal: Terminal): number {
  if (error instanceof CliError) {
    if (error.message !== '') terminal.err(`plant-store: ${error.message}`)
    if (error.hint !== undefined) terminal.err(`  Try: ${error.hint}`)
    return terminal.stop.aborted ? exitCodes.interrupted : error.exitCode
  }
  if (terminal.stop.aborted) return exitCodes.interrupted
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  for (const line of `unforeseen: ${text}`.split('\n')) terminal.err(line)
  return exitCodes.failure
}

/** Runs one command line, without the program's name, and returns the exit code. */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    refuseTokens(args)
    await createProgram(terminal).parseAsync(args, { from: 'user' })
    return exitCodes.ok
  } catch (error) {
    // Commander has printed its errors already; help and version are errors with code 0.
    if (error instanceof CommanderError) return error.exitCode && exitCodes.usage
    return report(error, terminal)
  }
}
