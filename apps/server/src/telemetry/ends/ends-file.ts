import { appendFileSync } from 'node:fs'
import { open, rename, stat, writeFile } from 'node:fs/promises'
import * as z from 'zod'

/**
 * Why a run of the server ended: `stopped` by a signal, `failed` because the store could not be
 * trusted any more, by an `exception`, or `killed`: nobody wrote a reason.
 */
export const endReasons = ['stopped', 'failed', 'exception', 'killed'] as const

export type EndReason = (typeof endReasons)[number]

const count = z.int().nonnegative()
const reasons = z.enum(endReasons)

/** What lines of the file say of one run; a later line adds to an earlier one, or replaces it. */
const runSchema = z.object({
  run: z.string(),
  /** When and as which process it began, in ISO 8601. */
  began: z.string().optional(),
  pid: z.int().positive().optional(),
  host: z.string().optional(),
  /** When the process began, as the system counts it; missing where that cannot be read. */
  ticks: z.string().optional(),
  ended: z.string().optional(),
  reason: reasons.optional(),
  /** Replies outcome_unknown. */
  unknownOutcomes: count.optional(),
  /** Ends of many earlier runs, whose own lines are gone. */
  ends: z.partialRecord(reasons, count).optional(),
})

export type RunRecord = z.output<typeof runSchema>

/** The runs that the file knows, by their names, oldest first. */
export type Runs = ReadonlyMap<string, RunRecord>

/** The file holds something else, or is no file. */
export class ForeignFileError extends Error {
  override name = 'ForeignFileError'
}

/** A file of this program is far below it, because each start shortens it. */
const LONGEST_BYTES = 16 * 1024 * 1024

/** A file above it is shortened; a run has 300 bytes, and one line more for each save of its count. */
const LONG_BYTES = 64 * 1024

/** How many of the latest ends keep lines of their own. */
const KEPT_ENDS = 20

const OWNER_ONLY = 0o600

async function readText(path: string): Promise<string> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (found === undefined) return ''
  // Opening a pipe would wait for whoever writes to it.
  if (!found.isFile()) throw new ForeignFileError('it is no file')
  if (found.size > LONGEST_BYTES) throw new ForeignFileError('it is too long')
  const file = await open(path, 'r')
  try {
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

function parseLine(line: string): RunRecord | undefined {
  try {
    return runSchema.parse(JSON.parse(line))
  } catch {
    return undefined
  }
}

/**
 * The runs in a file; none where it does not exist. A line that a full disk or a power cut left
 * incomplete is passed over.
 * @throws ForeignFileError where no line is of this program; otherwise the error of the system.
 */
export async function readRuns(path: string): Promise<Runs> {
  const lines = (await readText(path)).split('\n').filter((line) => line !== '')
  const records = lines.map(parseLine).filter((record) => record !== undefined)
  if (lines.length > 0 && records.length === 0) {
    throw new ForeignFileError('it was not written by this program')
  }
  const runs = new Map<string, RunRecord>()
  for (const record of records) runs.set(record.run, { ...runs.get(record.run), ...record })
  return runs
}

/** Begins with a line break, so that it never continues an incomplete line. */
function lineOf(record: RunRecord): string {
  return `\n${JSON.stringify(record)}\n`
}

/**
 * Adds a line, in one write, so that several servers may share the file; `isSynced` brings it to
 * stable storage. The file is made where it is missing.
 */
export async function appendRecord(
  path: string,
  record: RunRecord,
  isSynced = false,
): Promise<void> {
  const file = await open(path, 'a', OWNER_ONLY)
  try {
    await file.appendFile(lineOf(record))
    // Node 26 forbids it under its permission model; then a power cut may take the line away.
    if (isSynced) await file.sync().catch(() => {})
  } finally {
    await file.close()
  }
}

/**
 * The same before the call returns, for a process that ends. Not synced: Node waits at its end for
 * every sync that it began, and a disk that does not answer must not keep it alive.
 */
export function appendRecordNow(path: string, record: RunRecord): void {
  appendFileSync(path, lineOf(record), { mode: OWNER_ONLY })
}

/** What runs add up to. */
export interface Totals {
  readonly ends: Readonly<Record<EndReason, number>>
  readonly unknownOutcomes: number
}

export function addUp(runs: Iterable<RunRecord>): Totals {
  const ends = { stopped: 0, failed: 0, exception: 0, killed: 0 }
  let unknownOutcomes = 0
  for (const run of runs) {
    if (run.reason !== undefined) ends[run.reason]++
    for (const reason of endReasons) ends[reason] += run.ends?.[reason] ?? 0
    unknownOutcomes += run.unknownOutcomes ?? 0
  }
  return { ends, unknownOutcomes }
}

const EARLIER = 'earlier'

/** Shortens a long file: one line for all but the latest ends, and one for each run that goes on. */
export async function shorten(path: string, runs: Runs, goesOn: (run: RunRecord) => boolean) {
  if ((await stat(path)).size < LONG_BYTES) return
  const all = [...runs.values()]
  const kept = new Set([
    ...all.filter(({ reason }) => reason !== undefined).slice(-KEPT_ENDS),
    ...all.filter((run) => run.reason === undefined && run.run !== EARLIER && goesOn(run)),
  ])
  const earlier = { run: EARLIER, ...addUp(all.filter((run) => !kept.has(run))) }
  const temporary = `${path}.${process.pid}.partial`
  await writeFile(temporary, [earlier, ...kept].map(lineOf).join(''), {
    mode: OWNER_ONLY,
    flush: true,
  })
  await rename(temporary, path)
}
