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

/** After this time without a response the progress says so. */
const SILENCE_MS = 3_000

/** Whether an error is about the plant itself, for certain, which no later try can change. */
function isAboutThePlant({ code, applied }: PlantStoreError): boolean {
  return applied === 'no' && ['conflict', 'invalid_plant', 'rejected', 'too_large'].includes(code)
}

export interface RunParts {
  readonly input: Input
  readonly records: AsyncIterable<PlantRecord>
  readonly rejects: RejectsFile
  readonly client: PlantStoreClient
  readonly concurrency: number
  /** How long a server that is away is waited for. */
  readonly maxOutageMs: number
  /** The first row to send, counted from 1. */
  readonly fromRow: number
  readonly terminal: Terminal
}

/** A row that was sent. */
interface Row {
  readonly number: number
  readonly record: PlantRecord
}

/** One run over the rows of a file: reads, sends and shows them, and writes the rejects. */
export class ImportRun {
  /** Rows that are stored; `alreadyThere`: those of them that were there before. */
  stored = 0
  alreadyThere = 0
  rejected = 0
  /** Why rows were rejected. */
  readonly reasons = new ReasonCounts()
  /** What ended the run before its end, beside a signal. */
  failure: unknown
  readonly #parts: RunParts
  readonly #calls = new AbortController()
  readonly #progress: Progress
  readonly #beganAt = performance.now()
  /** Those without a result, by their index among all that were sent. */
  readonly #sent = new Map<number, Row>()
  #sentCount = 0
  #rows = 0
  #lastResultAt = performance.now()
  #isRead = false
  #isStopped = false
  #endTimer: NodeJS.Timeout | undefined

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
    return isDone ? undefined : (first?.number ?? Math.max(this.#rows + 1, this.#parts.fromRow))
  }

  #describeProgress({ bytes, totalBytes }: Input): string {
    const { stored, alreadyThere, rejected, seconds } = this
    const done = totalBytes ? Math.min(bytes / totalBytes, 1) : 0
    const parts = [`${formatCount(stored)} stored`]
    if (alreadyThere > 0) parts.push(`${formatCount(alreadyThere)} of them there already`)
    parts.push(`${formatCount(rejected)} rejected`)
    const silence = this.#sent.size === 0 ? 0 : performance.now() - this.#lastResultAt
    if (silence > SILENCE_MS) parts.push(`no response for ${formatDuration(silence / 1_000)}`)
    else parts.push(`${formatCount((stored + rejected) / seconds)}/s`)
    if (done > 0) parts.push(`${Math.floor(done * 100)} %`)
    if (done > 0 && silence <= SILENCE_MS) {
      parts.push(`${formatDuration((seconds * (1 - done)) / done)} left`)
    }
    return parts.join(', ')
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
  }

  async *#readRows(): AsyncGenerator<NewPlant> {
    const { records, fromRow } = this.#parts
    for await (const record of records) {
      if (this.#isStopped) return
      const { plant, problems = [] } = record
      const number = ++this.#rows
      if (number < fromRow) continue
      if (plant === undefined) {
        const message = describeProblems(problems)
        this.#reject(record, reasonOf(problems), { code: 'invalid_plant', message })
        continue
      }
      this.#sent.set(this.#sentCount++, { number, record })
      yield plant
    }
    if (this.#rows < fromRow - 1) {
      throw new CliError(`there are only ${formatCount(this.#rows)} rows`, exitCodes.usage)
    }
    this.#isRead = true
  }

  /** The plants to send. What ends the reading ends no call that is under way. */
  async *#plants(): AsyncGenerator<NewPlant> {
    try {
      yield* this.#readRows()
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

  /** Lets what is on its way come to its end, within bounds. */
  readonly #end = () => {
    this.#stop()
    this.#endTimer = setTimeout(() => this.#calls.abort(), MAX_ENDING_MS)
  }

  /** Runs once, to the end; what ended it is in `failure`. */
  async run(): Promise<void> {
    const { client, concurrency, maxOutageMs, terminal } = this.#parts
    terminal.stop.addEventListener('abort', this.#end)
    if (terminal.stop.aborted) this.#end()
    const options = { concurrency, maxOutageMs, signal: this.#calls.signal }
    try {
      for await (const result of createPlants(client, this.#plants(), options)) {
        this.#onResult(result)
      }
    } catch (error) {
      this.#stop(error)
    }
    clearTimeout(this.#endTimer)
    terminal.stop.removeEventListener('abort', this.#end)
    this.#progress.end()
  }
}
