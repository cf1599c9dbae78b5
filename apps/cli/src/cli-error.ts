/** How a command ended, for scripts. A code never gets another meaning. */
export const exitCodes = {
  /** Everything is stored, or the command has done its work. */
  ok: 0,
  /** Something unforeseen. */
  failure: 1,
  /** The command line, a file or a setting is wrong. */
  usage: 2,
  /** Some rows, or the one plant, are no plants or not accepted. */
  rejected: 3,
  /** The token is missing, refused or may not create plants. */
  notAllowed: 4,
  /** The service did not answer, or what it did is unknown; try again later. */
  unreachable: 5,
  /** SIGINT or SIGTERM ended it: 128 and the number of SIGINT. */
  interrupted: 130,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** A command that cannot do its work. The message is empty where the output has said all. */
export class CliError extends Error {
  override name = 'CliError'
  readonly exitCode: ExitCode
  /** What to try next, as it follows `Try: `; undefined where the message says all. */
  readonly hint: string | undefined

  constructor(message: string, exitCode: ExitCode, hint?: string) {
    super(message)
    this.exitCode = exitCode
    this.hint = hint
  }
}

/** The code of a system error, such as ENOENT; undefined for any other error. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}
