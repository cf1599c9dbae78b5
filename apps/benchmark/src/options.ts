import { parseArgs } from 'node:util'
import { type Contestant, contestants } from './contestants.ts'

const DEFAULTS = { rounds: 5, seconds: 1.5 }

/** Stands for every contestant on the client's side. */
const CLIENT = 'client'

export const USAGE = `pnpm bench [--rounds N] [--seconds N] [--only NAME]...

Measures the server beside its peers, and the client beside bare fetch, and prints the results. A run
of everything with at least the default rounds and seconds takes 10 to 15 minutes, and writes
docs/performance.md with its plots; so does --only client, which takes two, for its part of the page.

  --rounds N    how often each contestant is measured (default: ${DEFAULTS.rounds})
  --seconds N   how long each measurement takes (default: ${DEFAULTS.seconds})
  --only NAME   measure this contestant, or client; may be repeated (default: all)

Contestants:
  ${CLIENT.padEnd(18)}the client, in every way to use it, and bare fetch
${contestants.map(({ name, title }) => `  ${name.padEnd(18)}${title}\n`).join('')}`

export interface Options {
  readonly rounds: number
  readonly seconds: number
  readonly contestants: readonly Contestant[]
  readonly withClient: boolean
  /** What of the page the run is large enough for. */
  readonly page: 'all' | 'client' | 'nothing'
}

function readNumber(name: string, text: string, least: number, most: number): number {
  const value = Number(text)
  if (value >= least && value <= most) return value
  throw new Error(`--${name} must be a number from ${least} to ${most}`)
}

function choose(names: readonly string[]): Pick<Options, 'contestants' | 'withClient'> {
  const isKnown = (name: string) =>
    name === CLIENT || contestants.some((contestant) => contestant.name === name)
  const unknown = names.find((name) => !isKnown(name))
  if (unknown !== undefined) throw new Error(`--only ${unknown}: there is no such contestant`)
  return {
    contestants: contestants.filter(({ name }) => names.includes(name)),
    withClient: names.includes(CLIENT),
  }
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
  const chosen = values.only ? choose(values.only) : { contestants, withClient: true }
  const isLarge = rounds >= DEFAULTS.rounds && seconds >= DEFAULTS.seconds
  const part = values.only?.every((name) => name === CLIENT) ? CLIENT : 'nothing'
  const page = values.only ? part : 'all'
  return { rounds, seconds, ...chosen, page: isLarge ? page : 'nothing' }
}
