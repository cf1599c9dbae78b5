import type { ExitCode } from './exit-codes.ts'

/** A command that cannot do its work; the message says what to try, on a line of its own. */
export class CliError extends Error {
  override name = 'CliError'
  readonly exitCode: ExitCode

  constructor(message: string, exitCode: ExitCode, options?: ErrorOptions) {
    super(message, options)
    this.exitCode = exitCode
  }
}
