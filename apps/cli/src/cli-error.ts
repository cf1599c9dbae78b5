/** How a command ended, for scripts, as its help says. A code never gets another meaning. */
export const exitCodes = {
  ok: 0,
  failure: 1,
  usage: 2,
  rejected: 3,
  notAllowed: 4,
  unreachable: 5,
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
