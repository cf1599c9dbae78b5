import {
  type CreatePlantsResult,
  createPlants,
  type PlantStoreClient,
  type PlantStoreError,
} from '@plant-store/client'
import type { NewPlant } from '@plant-store/contract'
import { CliError, exitCodes } from '../cli-error.ts'
import { wasThere } from '../outcome.ts'
import type { Terminal } from '../terminal.ts'
import type { Input } from './input.ts'
import { describeProblems, type PlantRecord, ReasonCounts, reasonOf } from './plant-record.ts'
import { formatCount, formatDuration, type Progress, startProgress } from './progress.ts'
import type { Rejection, RejectsFile } from './rejects.ts'

/** How long what is on its way may take once the import has to end. */
const MAX_ENDING_MS = 5_000

/** How many rejects are shown by themselves. */
const MOST_SHOWN = 5

/** When as many rows at first are rejected for one reason, the file is read in a wrong way. */
const MOST_ALIKE = 100

/** After this time without a response the progress says so. */
const SILENCE_SECONDS = 3

/** Whether an error is about the plant itself, for certain, which no later try can change. */
function isAboutThePlant({ code, applied }: PlantStoreError): boolean {
  return applied === 'no' && ['conflict', 'invalid_plant', 'rejected', 'too_large'].includes(code)
}

/** The flags of a run. */
export interface RunOptions {
  /** The first row to send, counted from 1. */
  readonly fromRow: number
  /** How many plants are on their way at once. */
  readonly concurrency: number
  /** How many seconds a server that is away is waited for. */
  readonly maxOutage: number
}

export interface RunParts extends RunOptions {
  readonly input: Input
  readonly records: AsyncIterable<PlantRecord>
  readonly rejects: RejectsFile
  readonly client: PlantStoreClient
  readonly terminal: Terminal
}

/** One run over the rows of a file: reads, sends and shows them, and writes the rejects. */
export class ImportRun {
  /** Rows that are stored; `alreadyThere`: those of them that were there before. */
  stored = 0
  alreadyThere = 0
  rejected = 0
  /** Rows that were read. */
  rows = 0
  /** Why rows were rejected. */
  readonly reasons = new ReasonCounts()
  /** What ended the run before its end, beside a signal. */
  failure: unknown
  readonly #parts: RunParts
  readonly #progress: Progress
  readonly #beganAt = performance.now()
  /** Those without a result, by their index among all that were sent. */
  readonly #sent = new Map<number, { readonly row: number; readonly record: PlantRecord }>()
  #sentCount = 0
  #lastResultAt = performance.now()
  #isRead = false
  #isStopped = false

  constructor(parts: RunParts) {
    this.#parts = parts
    this.#progress = startProgress(parts.terminal, () => this.#describeProgress(parts.input))
  }

  get seconds(): number {
    return (performance.now() - this.#beganAt) / 1_000
  }

  /** The first row whose result is not known; undefined where each has one. */
  get nextRow(): number | undefined {
    // A map keeps the order of its keys.
    const [first] = this.#sent.values()
    const isDone = this.#isRead && first === undefined && this.failure === undefined
    return isDone ? undefined : (first?.row ?? Math.max(this.rows + 1, this.#parts.fromRow))
  }

  /** What to look at where every row is rejected for one reason that a file read wrongly gives. */
  get advice(): string | undefined {
    const { stored, reasons } = this
    if (stored > 0 || !/: must be an integer|^id taken$/.test(reasons.only ?? '')) return undefined
    return 'is this the id column? An id is a whole number: --map "COLUMN=id" takes another, --number-rows 1 gives each row one'
  }

  #describeProgress({ countBytes, totalBytes = 0 }: Input): string {
    const { stored, rejected, seconds } = this
    const counts = `${formatCount(stored)} stored, ${formatCount(rejected)} rejected`
    const silence = (performance.now() - this.#lastResultAt) / 1_000
    if (this.#sent.size > 0 && silence > SILENCE_SECONDS) {
      return `no response for ${formatDuration(silence)}, ${counts}`
    }
    const rate = `${counts}, ${formatCount((stored + rejected) / seconds)}/s`
    if (totalBytes === 0) return rate
    const done = Math.min(countBytes() / totalBytes, 1)
    return `${rate}, ${Math.floor(done * 100)} %, ${formatDuration((seconds * (1 - done)) / done)} left`
  }

  #stop(failure?: unknown): void {
    this.failure ??= failure
    this.#isStopped = true
  }

  #reject(record: PlantRecord, reason: string, rejection: Rejection): void {
    this.rejected++
    this.reasons.add(reason)
    if (this.rejected <= MOST_SHOWN) {
      this.#progress.line(`  line ${record.line}: ${rejection.message}`)
    }
    try {
      this.#parts.rejects.add(record, rejection)
    } catch (error) {
      this.#stop(error)
    }
    if (this.rejected !== MOST_ALIKE || this.stored > 0 || this.reasons.only === undefined) return
    const message = `the first ${MOST_ALIKE} rows are rejected for one reason: ${reason}`
    const hint = this.advice ?? '--map and --delimiter, if a column is not what it seems'
    this.#stop(new CliError(message, exitCodes.rejected, hint))
  }

  /** The plants to send. What ends the reading ends no call that is under way. */
  async *#plants(): AsyncGenerator<NewPlant> {
    const { records, fromRow } = this.#parts
    try {
      for await (const record of records) {
        if (this.#isStopped) return
        const { plant, problems = [] } = record
        if (++this.rows < fromRow) continue
        if (plant !== undefined) {
          this.#sent.set(this.#sentCount++, { row: this.rows, record })
          yield plant
        } else {
          const message = describeProblems(problems)
          this.#reject(record, reasonOf(problems), { code: 'invalid_plant', message })
        }
      }
      if (this.rows < fromRow - 1) {
        throw new CliError(`there are only ${formatCount(this.rows)} rows`, exitCodes.usage)
      }
      this.#isRead = true
    } catch (error) {
      this.#stop(error)
    }
  }

  #onResult(result: CreatePlantsResult): void {
    this.#lastResultAt = performance.now()
    const row = this.#sent.get(result.index)
    if (row === undefined) return
    if (result.ok) {
      this.stored++
      if (wasThere(result.meta)) this.alreadyThere++
    } else if (isAboutThePlant(result.error)) {
      const {
        code: own,
        message: words,
        apiName: code = own,
        apiMessage: message = words,
      } = result.error
      this.#reject(row.record, code.replaceAll('_', ' '), { code, message })
    } else {
      this.#stop(result.error)
      return
    }
    this.#sent.delete(result.index)
  }

  /** Runs once, to the end; what ended it is in `failure`. */
  async run(): Promise<void> {
    const { client, concurrency, maxOutage, terminal } = this.#parts
    const calls = new AbortController()
    let timer: NodeJS.Timeout | undefined
    // Lets what is on its way come to its end, within bounds.
    const end = () => {
      this.#stop()
      timer = setTimeout(() => calls.abort(), MAX_ENDING_MS)
    }
    terminal.stop.addEventListener('abort', end)
    if (terminal.stop.aborted) end()
    const options = { concurrency, maxOutageMs: maxOutage * 1_000, signal: calls.signal }
    try {
      for await (const result of createPlants(client, this.#plants(), options)) {
        this.#onResult(result)
      }
    } catch (error) {
      this.#stop(error)
    }
    clearTimeout(timer)
    terminal.stop.removeEventListener('abort', end)
    this.#progress.end()
  }
}
