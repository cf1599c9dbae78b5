import { parseArgs } from 'node:util'
import { type Contestant, contestants } from './contestants.ts'

export const USAGE = `pnpm bench [--rounds N] [--seconds N] [--only NAME]...

Measures the server beside its peers, prints the results, and writes docs/performance.md with its
plots unless --only leaves somebody out.

  --rounds N    how often each contestant is measured (default: 5)
  --seconds N   how long each measurement takes (default: 1.5)
  --only NAME   measure this contestant; may be repeated (default: all)

Contestants:
${contestants.map(({ name, title }) => `  ${name.padEnd(18)}${title}\n`).join('')}`

export interface Options {
  readonly rounds: number
  readonly seconds: number
  readonly contestants: readonly Contestant[]
}

/** The command line cannot be understood; the message says why. */
class UsageError extends Error {
  override name = 'UsageError'
}

function readNumber(name: string, text: string, least: number, most: number): number {
  const value = Number(text)
  if (value >= least && value <= most) return value
  throw new UsageError(`--${name} must be a number from ${least} to ${most}`)
}

function choose(names: readonly string[]): readonly Contestant[] {
  const unknown = names.find((name) => !contestants.some((one) => one.name === name))
  if (unknown !== undefined) throw new UsageError(`--only ${unknown}: there is no such contestant`)
  return contestants.filter(({ name }) => names.includes(name))
}

/** @throws an error for which isUsageError is true */
export function readOptions(args: readonly string[]): Options | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '1.5' },
      only: { type: 'string', multiple: true },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return 'help'
  return {
    rounds: Math.round(readNumber('rounds', values.rounds, 1, 100)),
    seconds: readNumber('seconds', values.seconds, 0.1, 600),
    contestants: values.only ? choose(values.only) : contestants,
  }
}

/** Whether the command line is wrong. */
export function isUsageError(error: unknown): error is Error {
  const code = (error as { code?: unknown }).code
  return (
    error instanceof UsageError || (typeof code === 'string' && code.startsWith('ERR_PARSE_ARGS'))
  )
}
