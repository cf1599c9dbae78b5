import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { within } from '../../process/within.ts'
import {
  addUp,
  appendRecord,
  appendRecordNow,
  type EndReason,
  ForeignFileError,
  type Runs,
  readRuns,
  shorten,
  type Totals,
} from './ends-file.ts'
import { describeProcess, isGone } from './processes.ts'

/** This run of the server, and how earlier ones ended. No method throws. */
export interface Ends {
  /** How all runs ended that the file knows; `ends` is undefined where there is no file. */
  totals(): Promise<Partial<Totals> & Pick<Totals, 'unknownOutcomes'>>
  /** Writes that this run began: unless it writes why it ends, a later one counts it as killed. */
  begin(): Promise<void>
  /** Counts a reply outcome_unknown, and saves the count soon. */
  noteUnknownOutcome(): void
  /** Writes, before it returns, why this run ends, if it began. */
  end(reason: EndReason): void
}

/** A disk that does not answer must hold up neither a start nor an end. */
const DISK_LIMIT_MS = 500

/** How long the count of unknown outcomes waits to be saved: a second at first, then longer. */
const SAVE_MS = { first: 1_000, longest: 60_000 }

const KILL_NOT_KEPT = 'cannot be written, so a kill of this run may not be counted'
const COUNT_NOT_KEPT = 'cannot be written, so a kill would lose the count of unknown outcomes'
const END_NOT_KEPT = 'cannot be written, so the next start counts this run as killed'

/** A power cut does not take the line away. */
const SYNCED = true

const LATE = Symbol('late')

/** @throws the error of the work, or that it takes too long. */
async function inTime<Result>(work: Promise<Result>): Promise<Result> {
  const result = await within<Result, typeof LATE>(DISK_LIMIT_MS, work, LATE)
  if (result === LATE) throw new Error(`the disk did not answer within ${DISK_LIMIT_MS} ms`)
  return result
}

/** Counts the runs that wrote no end and whose processes are gone, and gives all runs. */
async function countKilled(file: string): Promise<Runs> {
  const runs = new Map(await readRuns(file))
  for (const run of runs.values()) {
    if (run.reason !== undefined || !isGone(run)) continue
    const ended = { ...run, ended: new Date().toISOString(), reason: 'killed' } as const
    // At the end of the list, because it is the latest known.
    runs.delete(run.run)
    runs.set(run.run, ended)
    const { ended: at, reason } = ended
    await appendRecord(file, { run: run.run, ended: at, reason }, SYNCED)
  }
  if (runs.size > 0) await shorten(file, runs, (run) => !isGone(run))
  return runs
}

function logLastEnd(runs: Runs, log: Logger): void {
  const last = [...runs.values()]
    .filter(({ ended }) => ended !== undefined)
    .toSorted((one, other) => Date.parse(one.ended ?? '') - Date.parse(other.ended ?? ''))
    .at(-1)
  if (last === undefined) return
  const { began, ended, reason, unknownOutcomes } = last
  const about = { reason, began, [reason === 'killed' ? 'found' : 'ended']: ended }
  const level = reason === 'stopped' ? 'info' : 'warn'
  log[level]({ ...about, unknownOutcomes }, `the last run ended: ${reason}`)
}

function createEnds(
  file: string,
  known: Runs,
  warn: (error: unknown, consequence: string) => void,
): Ends {
  const run = randomUUID()
  let reading: Promise<Runs> | undefined
  let unknownOutcomes = 0
  let isSaving = false
  let saveMs = SAVE_MS.first
  let hasBegun = false

  function read(): Promise<Runs> {
    // One at a time, because each waits in a thread of its own while a disk does not answer.
    reading ??= readRuns(file).finally(() => {
      reading = undefined
    })
    return inTime(reading)
  }

  async function save(): Promise<void> {
    await appendRecord(file, { run, unknownOutcomes }).catch((error) => warn(error, COUNT_NOT_KEPT))
    isSaving = false
    saveMs = Math.min(2 * saveMs, SAVE_MS.longest)
  }

  return {
    async totals() {
      known = await read().catch(() => known)
      const others = [...known.values()].filter((other) => other.run !== run)
      return addUp([...others, { run, unknownOutcomes }])
    },
    async begin() {
      hasBegun = true
      const began = { run, began: new Date().toISOString(), ...describeProcess() }
      await inTime(appendRecord(file, began, SYNCED)).catch((error) => warn(error, KILL_NOT_KEPT))
    },
    noteUnknownOutcome() {
      unknownOutcomes++
      if (isSaving) return
      isSaving = true
      setTimeout(save, saveMs).unref()
    },
    end(reason) {
      if (!hasBegun) return
      try {
        appendRecordNow(file, { run, ended: new Date().toISOString(), reason, unknownOutcomes })
      } catch (error) {
        warn(error, END_NOT_KEPT)
      }
    },
  }
}

/** This run alone, kept nowhere. */
function createForgetfulEnds(): Ends {
  let unknownOutcomes = 0
  return {
    totals: async () => ({ unknownOutcomes }),
    begin: async () => {},
    noteUnknownOutcome: () => void unknownOutcomes++,
    end: () => {},
  }
}

/**
 * Reads how earlier runs ended, counts those that were killed, and logs the last. Where the file
 * cannot be used there is one line at `warn`, and the server runs as well without.
 */
export async function openEnds(file: string | undefined, log: Logger): Promise<Ends> {
  function warn(error: unknown, consequence: string): void {
    log.warn({ reason: (error as Error).message }, `the state file ${file} ${consequence}`)
  }

  if (file === undefined) return createForgetfulEnds()
  try {
    const known = await inTime(countKilled(file))
    logLastEnd(known, log)
    return createEnds(file, known, warn)
  } catch (error) {
    warn(error, 'cannot be used, so it is not known how earlier runs ended')
    // It is somebody else's.
    if (error instanceof ForeignFileError) return createForgetfulEnds()
    return createEnds(file, new Map(), warn)
  }
}
