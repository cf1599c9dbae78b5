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
