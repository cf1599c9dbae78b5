import { parseArgs } from 'node:util'
import { makeDataFolder } from './data-folder.ts'
import { createDatabases } from './databases/databases.ts'
import { exitWith, watchForInterruption } from './failure.ts'
import { type Digest, digestPostgres, digestSqlite } from './move/digest.ts'
import { makeSource } from './move/source.ts'
import { type Transfer, transfer } from './move/transfer.ts'

const USAGE = `pnpm --filter @plant-store/benchmark move [--plants N]

Moves a SQLite store to PostgreSQL with \`export | load\`, and compares both ends.

  --plants N   how many plants (default: 1000000)
`

const PEAK_LIMIT_BYTES = 200 * 1_000_000

interface Move {
  readonly source: Digest
  readonly target: Digest
  readonly transfer: Transfer
}

function tell(what: string): void {
  process.stderr.write(`${what}\n`)
}

async function move(count: number): Promise<Move> {
  const databases = createDatabases(makeDataFolder())
  try {
    const [from, to] = [await databases.make('sqlite'), await databases.make('postgres')]
    tell(`making ${count} plants`)
    await makeSource(from.address, count)
    const source = digestSqlite(from.address)
    tell('export | load')
    const transferred = await transfer(`sqlite:${from.address}`, to.address)
    tell('comparing')
    return { source, target: await digestPostgres(to.address), transfer: transferred }
  } finally {
    await databases.close()
  }
}

function describePeak(bytes: number): string {
  return Number.isNaN(bytes) ? 'not told by this system' : `${(bytes / 1e6).toFixed(0)} MB`
}

function describe({ source, target, transfer: { seconds, peakBytes } }: Move): string {
  return (
    `${target.count} plants in ${seconds.toFixed(1)} s: ` +
    `${(target.count / seconds).toFixed(0)} rows/s\n` +
    `peak memory: export ${describePeak(peakBytes.export)}, load ${describePeak(peakBytes.load)}\n` +
    `SQLite:     ${source.count} plants, ${source.sha256}\n` +
    `PostgreSQL: ${target.count} plants, ${target.sha256}\n`
  )
}

function refuse({ source, target, transfer: { peakBytes } }: Move, count: number): void {
  if (source.count !== count) throw new Error(`${source.count} plants were made, not ${count}`)
  if (target.sha256 !== source.sha256) throw new Error('the two stores differ')
  const peak = Math.max(peakBytes.export, peakBytes.load)
  if (peak >= PEAK_LIMIT_BYTES) throw new Error(`${describePeak(peak)} is too much memory`)
}

function readCount(): number | 'help' {
  const { values } = parseArgs({
    options: { plants: { type: 'string', default: '1000000' }, help: { type: 'boolean' } },
  })
  if (values.help) return 'help'
  const count = Number(values.plants)
  if (Number.isInteger(count) && count > 0) return count
  throw new Error('--plants must be a whole number from 1')
}

watchForInterruption()
try {
  const count = readCount()
  if (count === 'help') process.stdout.write(USAGE)
  else {
    const moved = await move(count)
    process.stdout.write(describe(moved))
    refuse(moved, count)
  }
} catch (error) {
  exitWith(error)
}
