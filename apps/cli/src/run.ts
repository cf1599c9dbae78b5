import { Command, CommanderError } from 'commander'
import { CliError } from './cli-error.ts'
import { exitCodes } from './exit-codes.ts'
import type { Terminal } from './terminal.ts'

/** The suggestion that commander adds below an error. */
const SUGGESTION = /\n(?=\(Did you mean [^\n]*\n?$)/

function createProgram(terminal: Terminal): Command {
  return new Command('plant-store')
    .description('Put plants into a plant store.')
    .exitOverride()
    .configureOutput({
      // Help holds no text from outside.
      writeOut: terminal.out,
      writeErr: (text) => terminal.err(text.trimEnd()),
      outputError: (text) => terminal.err(text.trimEnd().replace(SUGGESTION, '\n  ')),
    })
    .showHelpAfterError('  Try: plant-store --help')
}

/** Runs one command line, without the program's name, and returns the exit code. */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    await createProgram(terminal).parseAsync(args, { from: 'user' })
    return exitCodes.ok
  } catch (error) {
    if (terminal.stop.aborted) return exitCodes.interrupted
    // Commander has printed its errors already; help and version are errors with code 0.
    if (error instanceof CommanderError) return error.exitCode && exitCodes.usage
    if (error instanceof CliError) {
      terminal.err('plant-store: ', error.message)
      return error.exitCode
    }
    terminal.err('plant-store: ', error instanceof Error ? (error.stack ?? '') : String(error))
    return exitCodes.failure
  }
}
