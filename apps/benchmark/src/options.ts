import { parseArgs } from 'node:util'
import { type Contestant, contestants } from './contestants.ts'

function describe(isMeant: (contestant: Contestant) => boolean): string {
  return contestants
    .filter(isMeant)
    .map(({ name, about }) => `  ${name.padEnd(18)}${about}\n`)
    .join('')
}

export const USAGE = `pnpm bench [--rounds N] [--seconds N] [--only NAME]... [--json FILE]

  --rounds N    how often each contestant is measured (default: 5)
  --seconds N   how long each measurement takes (default: 1.5)
  --only NAME   measure this contestant or experiment; may be repeated (default: all contestants)
  --json FILE   write every single measurement to a file

Contestants:
${describe((one) => one.experiment === undefined)}
Experiment postgres-flights, on PostgreSQL:
${describe((one) => one.experiment === 'postgres-flights')}
The server's CPU and memory are those of its own processes, without PostgreSQL's.
\`pnpm --filter @plant-store/benchmark move\` moves a million plants from SQLite to PostgreSQL.
`

export interface Options {
  readonly rounds: number
  readonly seconds: number
  readonly contestants: readonly Contestant[]
  readonly jsonFile: string | undefined
}

/** The command line cannot be understood; the message says why. */
export class UsageError extends Error {
  override name = 'UsageError'
}

function readNumber(name: string, text: string, least: number, most: number): number {
  const value = Number(text)
  if (value >= least && value <= most) return value
  throw new UsageError(`--${name} must be a number from ${least} to ${most}`)
}

function choose(names: readonly string[] | undefined): readonly Contestant[] {
  if (names === undefined) return contestants.filter((one) => one.experiment === undefined)
  const namesOf = ({ name, experiment = name }: Contestant) => [name, experiment]
  const unknown = names.find((name) => !contestants.some((one) => namesOf(one).includes(name)))
  if (unknown !== undefined) throw new UsageError(`--only ${unknown}: there is no such contestant`)
  return contestants.filter((one) => namesOf(one).some((name) => names.includes(name)))
}

/** @throws UsageError, or the TypeError of parseArgs. */
export function readOptions(args: readonly string[]): Options | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '1.5' },
      only: { type: 'string', multiple: true },
      json: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return 'help'
  return {
    rounds: Math.round(readNumber('rounds', values.rounds, 1, 100)),
    seconds: readNumber('seconds', values.seconds, 0.1, 600),
    contestants: choose(values.only),
    jsonFile: values.json,
  }
}

/** Whether the command line is at fault. */
export function isUsageError(error: unknown): error is Error {
  const code = (error as { code?: unknown }).code
  return (
    error instanceof UsageError || (typeof code === 'string' && code.startsWith('ERR_PARSE_ARGS'))
  )
}
