import type { ExitCode } from './exit-codes.ts'

/** What stands beside the message of a CliError. */
export interface CliErrorOptions extends ErrorOptions {
  /** What to try next, as it follows `Try: `. */
  readonly hint?: string | undefined
}

/** A command that cannot do its work. The message is empty where the output has said all. */
export class CliError extends Error {
  override name = 'CliError'
  readonly exitCode: ExitCode
  /** What to try next, as it follows `Try: `; undefined where the message says all. */
  readonly hint: string | undefined

  constructor(message: string, exitCode: ExitCode, options: CliErrorOptions = {}) {
    super(message, options)
    this.exitCode = exitCode
    this.hint = options.hint
  }
}

/** The code of a system error, such as ENOENT; undefined for any other error. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}
