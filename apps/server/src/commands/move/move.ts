import type { Command } from 'commander'
import { type Config, type Flags, loadConfig } from '../../config/config.ts'
import { engineOf, openStore } from '../../engines.ts'
import type { Departure } from '../../store/engine.ts'
import type { MoveSource } from '../../store/move.ts'
import { operatorNames } from '../../store/operator-names.ts'
import { type Store, StoreUnavailableError } from '../../store/store.ts'
import { describeCount } from '../../text/describe-count.ts'
import { addSettingFlags } from '../command.ts'
import { CommandError, exitCodes } from '../command-error.ts'
import { describeStop, describeUnavailable } from '../failures.ts'
import { startProgress } from '../progress.ts'
import type { Terminal } from '../terminal.ts'
import { copyAll, cutOver, follow, type MoveOptions, resume, toTarget } from './move-plants.ts'

interface MoveFlags {
  readonly from: string
  readonly finish?: boolean
  readonly undo?: boolean
}

const AGAIN = 'The old store serves on, and nothing is lost. Try: the same command again'

/** More than one commit takes, and so that two can run beside each other. */
const QUEUE_PLANTS = 65_536

const SHOWN_CONFLICTS = 5

function departureOf(databaseUrl: string): Departure {
  const { departure } = engineOf(databaseUrl)
  if (departure !== undefined) return departure
  throw new CommandError(
    'move copies from a SQLite store. Try: pg_dump and pg_restore, or the logical replication of PostgreSQL',
    exitCodes.config,
  )
}

function describeFailure(error: unknown, terminal: Terminal): unknown {
  if (error instanceof StoreUnavailableError) {
    const message = `${describeUnavailable(error)}. ${AGAIN}`
    return new CommandError(message, exitCodes.unavailable, { cause: error })
  }
  return describeStop(error, terminal, AGAIN)
}

function showProgress({ source, counts }: MoveOptions, terminal: Terminal) {
  const startedAt = performance.now()
  return startProgress(terminal, () => {
    const left = source.countLeft()
    const { copied, conflicts, outage } = counts
    return {
      fraction: copied + left === 0 ? 1 : copied / (copied + left),
      counts: { copied, left, ...(conflicts > 0 && { conflicting: conflicts }) },
      perSecond: (copied * 1_000) / (performance.now() - startedAt),
      note: outage && `waits for the other database: ${outage.message}`,
    }
  })
}

async function movePlants(
  options: MoveOptions,
  isLast: boolean,
  line: (text: string) => void,
): Promise<void> {
  const { source, target, counts } = options
  if (await resume(options)) line('Goes on where the last run ended.')
  await copyAll(options)
  if (!isLast) {
    line(
      `Copied ${describeCount(counts.copied, 'plant')}. What the old servers store now follows within ` +
        'a second, until Ctrl+C. To cut over: the same command with --finish',
    )
    await follow(options)
  }
  const pausedMs = await cutOver(options)
  await target.moves.remove()
  line(
    `Moved: every plant of ${source.description} is in ${target.description}. ` +
      `The old store takes no more; creates waited for ${Math.ceil(pausedMs)} ms. ` +
      `Now stop the old servers and start the new ones.`,
  )
}

async function move(source: MoveSource, store: Store, isLast: boolean, terminal: Terminal) {
  const movedTo = source.movedTo()
  if (movedTo !== undefined) {
    terminal.err(`The plants have moved before: all of them are in ${movedTo}.\n`)
    return
  }
  let shown = 0
  const options: MoveOptions = {
    source,
    target: toTarget(store),
    counts: { copied: 0, conflicts: 0, outage: undefined },
    signal: terminal.stop,
    onConflict(id) {
      if (shown++ >= SHOWN_CONFLICTS) return
      progress.line(`id ${id} is taken in the other database by other content`)
    },
  }
  const progress = showProgress(options, terminal)
  try {
    await movePlants(options, isLast, progress.line)
  } catch (error) {
    throw describeFailure(error, terminal)
  } finally {
    progress.end()
  }
}

async function openBoth(
  config: Config,
  { from, finish = false }: MoveFlags,
  terminal: Terminal,
): Promise<void> {
  const departure = departureOf(from)
  const store = await openStore({ ...config, queueLimit: QUEUE_PLANTS })
  try {
    toTarget(store)
    const source = await departure.open()
    try {
      terminal.err(`from ${source.description}\n`)
      terminal.err(`to ${store.description}\n`)
      await move(source, store, finish, terminal)
    } finally {
      source.close()
    }
  } finally {
    await store.close()
  }
}

const help = () => `
Servers may go on with the old store. From the first run on, it records what they store, in the
same commits. move copies what was there and then what arrives, until Ctrl+C, and goes on there
when it is run again. With --finish it cuts over once it has caught up: creates wait while it
copies the last plants, and from then on the old store refuses plants: its servers answer 503 and
are not ready. Every plant that was answered 200 is then in the other database. Whatever fails
before that leaves the old store as it was. Tokens are not copied.

Example: ${operatorNames.program} move --from sqlite:./data/plants.db --finish`

/** `move --from URL [--finish | --undo]` */
export function addMoveCommand(program: Command, terminal: Terminal): void {
  addSettingFlags(program.command('move'), ['databaseUrl', 'allowDataLoss'])
    .description('move every plant of a SQLite store to PostgreSQL, while servers go on')
    .requiredOption('--from <url>', 'the old store, such as sqlite:./data/plants.db')
    .option('--finish', 'cut over once all is copied')
    .option('--undo', 'let the old store be served as ever, and forget the move')
    .addHelpText('after', help())
    .action(async (flags: Flags & MoveFlags) => {
      if (!flags.undo) return openBoth(loadConfig(flags), flags, terminal)
      await departureOf(flags.from).undo()
      terminal.err('The old store can be served again. The other database keeps what it has.\n')
    })
}
