import { parseArgs } from 'node:util'
import { type Contestant, contestants } from './contestants.ts'

export const USAGE = `pnpm bench [--rounds N] [--seconds N] [--only NAME]... [--json FILE]

  --rounds N    how often each contestant is measured (default: 5)
  --seconds N   how long each measurement takes (default: 2)
  --only NAME   measure this contestant; may be repeated (default: all)
  --json FILE   write every single measurement to a file

Contestants:
${contestants.map(({ name, about }) => `  ${name.padEnd(12)}${about}\n`).join('')}`

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
  if (names === undefined) return contestants
  const unknown = names.find((name) => !contestants.some((one) => one.name === name))
  if (unknown !== undefined) throw new UsageError(`--only ${unknown}: there is no such contestant`)
  return contestants.filter(({ name }) => names.includes(name))
}

/** @throws UsageError, or the TypeError of parseArgs. */
export function readOptions(args: readonly string[]): Options | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '2' },
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
