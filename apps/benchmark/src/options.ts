import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Contestant, contestantsWith } from './contestants.ts'

const SECONDS = '1.5'

export const USAGE = `pnpm bench [--only NAME,…] [--seconds N] [--server PATH] [--pocketbase PATH] [--write]

Measures the server beside others, the import and the client: one table, in at most six minutes.

  --only NAME,…      only these, of ${contestantsWith('', '').map(({ name }) => name)}
  --seconds N        how long each measurement takes (default: ${SECONDS})
  --server PATH      another build of our server as well, by its dist/main.js
  --pocketbase PATH  PocketBase as well, by its program
  --write            write the table and its plot into docs/performance.md
`

export interface Options {
  readonly seconds: number
  readonly contestants: readonly Contestant[]
  readonly writes: boolean
}

const text = { type: 'string' } as const

/** @throws Error, with what is wrong with the command line */
export function readOptions(args: readonly string[]): Options {
  const write = { type: 'boolean', default: false } as const
  const { values } = parseArgs({
    args: [...args],
    options: { only: text, seconds: text, server: text, pocketbase: text, write },
  })
  const seconds = Number(values.seconds ?? SECONDS)
  if (!(seconds >= 0.1 && seconds <= 600)) throw new Error('--seconds must be from 0.1 to 600')
  // pnpm runs this in the package's folder; a path is meant from where pnpm was called.
  const toPath = (path?: string) => path && resolve(process.env.INIT_CWD ?? '', path)
  const all = contestantsWith(toPath(values.server), toPath(values.pocketbase))
  const only = values.only?.split(',') ?? all.map(({ name }) => name)
  const unknown = only.find((name) => all.every((one) => one.name !== name))
  if (unknown !== undefined) throw new Error(`--only ${unknown}: nothing of that name is measured`)
  const contestants = all.filter(({ name }) => only.includes(name))
  return { seconds, contestants, writes: values.write }
}
