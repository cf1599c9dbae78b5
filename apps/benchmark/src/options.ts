import { parseArgs } from 'node:util'
import { type Contestant, contestants } from './contestants.ts'

const DEFAULTS = { rounds: 5, seconds: 1.5 }

export const USAGE = `pnpm bench [--rounds N] [--seconds N] [--only NAME]...

Measures the server beside its peers and prints the results. A run of all contestants with at least
the default rounds and seconds takes 10 to 15 minutes, and writes docs/performance.md with its plots.

  --rounds N    how often each contestant is measured (default: ${DEFAULTS.rounds})
  --seconds N   how long each measurement takes (default: ${DEFAULTS.seconds})
  --only NAME   measure this contestant; may be repeated (default: all)

Contestants:
${contestants.map(({ name, title }) => `  ${name.padEnd(18)}${title}\n`).join('')}`

export interface Options {
  readonly rounds: number
  readonly seconds: number
  readonly contestants: readonly Contestant[]
  /** Whether the run is large enough for the page. */
  readonly isWhole: boolean
}

function readNumber(name: string, text: string, least: number, most: number): number {
  const value = Number(text)
  if (value >= least && value <= most) return value
  throw new Error(`--${name} must be a number from ${least} to ${most}`)
}

function choose(names: readonly string[]): readonly Contestant[] {
  const unknown = names.find((name) => !contestants.some((one) => one.name === name))
  if (unknown !== undefined) throw new Error(`--only ${unknown}: there is no such contestant`)
  return contestants.filter(({ name }) => names.includes(name))
}

/** @throws Error, with what is wrong with the command line */
export function readOptions(args: readonly string[]): Options | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: String(DEFAULTS.rounds) },
      seconds: { type: 'string', default: String(DEFAULTS.seconds) },
      only: { type: 'string', multiple: true },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return 'help'
  const rounds = Math.round(readNumber('rounds', values.rounds, 1, 100))
  const seconds = readNumber('seconds', values.seconds, 0.1, 600)
  const isWhole = !values.only && rounds >= DEFAULTS.rounds && seconds >= DEFAULTS.seconds
  return { rounds, seconds, contestants: values.only ? choose(values.only) : contestants, isWhole }
}
