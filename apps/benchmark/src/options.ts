import { parseArgs } from 'node:util'
import { type Contestant, contestants } from './contestants.ts'
import { PART_NAMES, type PartName } from './report/results.ts'

const DEFAULTS = { rounds: 5, seconds: 1.5, minutes: 10, loops: 1 }

/** What is measured by itself, and whether a run of everything measures it too. */
const parts: Readonly<Record<PartName, { readonly about: string; readonly isUsual: boolean }>> = {
  client: { about: 'the client, in every way to use it, and bare fetch', isUsual: true },
  endurance: {
    about: 'minutes at 256 connections, with backups and scrapes',
    isUsual: false,
  },
  growth: { about: 'stores of 0, 10^7 and 10^8 plants', isUsual: false },
}

export const USAGE = `pnpm bench [--rounds N] [--seconds N] [--minutes N] [--loops N] [--only NAME]...

Measures the server beside its peers, and the client beside bare fetch, and prints the results. A run
of everything with at least the default rounds and seconds takes about 16 minutes, and writes
docs/performance.md with its plots. So does --only with a part, for its section of the page: client
takes two minutes, endurance as many as it is told, growth ten, and the first time as long as it
takes to load its stores.

  --rounds N    how often each contestant is measured (default: ${DEFAULTS.rounds})
  --seconds N   how long each measurement takes (default: ${DEFAULTS.seconds})
  --minutes N   how long endurance takes (default: ${DEFAULTS.minutes})
  --loops N     event loops of the server in endurance and growth (default: ${DEFAULTS.loops})
  --only NAME   measure this contestant or part; may be repeated (default: all, and client)

Parts:
${PART_NAMES.map((name) => `  ${name.padEnd(18)}${parts[name].about}\n`).join('')}
Contestants:
${contestants.map(({ name, title }) => `  ${name.padEnd(18)}${title}\n`).join('')}`

export interface Options {
  readonly rounds: number
  readonly seconds: number
  readonly minutes: number
  readonly loops: number
  readonly contestants: readonly Contestant[]
  readonly parts: readonly PartName[]
  /** Whether the run is large enough for the page, and has all of what it would replace there. */
  readonly writesPage: boolean
}

function readNumber(name: string, text: string, least: number, most: number): number {
  const value = Number(text)
  if (value >= least && value <= most) return value
  throw new Error(`--${name} must be a number from ${least} to ${most}`)
}

function choose(names: readonly string[]): Pick<Options, 'contestants' | 'parts'> {
  const isKnown = (name: string) =>
    name in parts || contestants.some((contestant) => contestant.name === name)
  const unknown = names.find((name) => !isKnown(name))
  if (unknown !== undefined) throw new Error(`--only ${unknown}: there is no such contestant`)
  return {
    contestants: contestants.filter(({ name }) => names.includes(name)),
    parts: PART_NAMES.filter((name) => names.includes(name)),
  }
}

/** @throws Error, with what is wrong with the command line */
export function readOptions(args: readonly string[]): Options | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: String(DEFAULTS.rounds) },
      seconds: { type: 'string', default: String(DEFAULTS.seconds) },
      minutes: { type: 'string', default: String(DEFAULTS.minutes) },
      loops: { type: 'string', default: String(DEFAULTS.loops) },
      only: { type: 'string', multiple: true },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return 'help'
  const rounds = Math.round(readNumber('rounds', values.rounds, 1, 100))
  const seconds = readNumber('seconds', values.seconds, 0.1, 600)
  const minutes = Math.round(readNumber('minutes', values.minutes, 1, 600))
  const loops = Math.round(readNumber('loops', values.loops, 1, 64))
  const usual = PART_NAMES.filter((name) => parts[name].isUsual)
  const chosen = values.only ? choose(values.only) : { contestants, parts: usual }
  const isLarge =
    rounds >= DEFAULTS.rounds && seconds >= DEFAULTS.seconds && minutes >= DEFAULTS.minutes
  const isWhole = values.only === undefined || chosen.contestants.length === 0
  return { rounds, seconds, minutes, loops, ...chosen, writesPage: isLarge && isWhole }
}
