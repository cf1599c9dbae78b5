import { createPlants, type PlantStoreClient } from '@plant-store/client'
import type { NewPlant } from '@plant-store/contract'
import { CliError } from '../cli-error.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Terminal } from '../terminal.ts'
import { type Input, InputStopped } from './input.ts'
import type { PlantRecord } from './plant-record.ts'
import { formatCount, formatDuration, type Progress, startProgress } from './progress.ts'
import { ReasonCounts } from './reason-counts.ts'
import type { RejectsFile } from './rejects.ts'
import { type Row, RowQueue, type RowResult, toReject, toRowResult } from './rows.ts'

/** How long what is on its way may take once the import has to end. */
const MAX_ENDING_MS = 5_000

/** How many rejects are shown by themselves. */
const MOST_SHOWN = 5

/** After this time without a response the progress says so. */
const SILENCE_MS = 3_000

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

/** What a run came to. */
export interface RunEnd {
  readonly stored: number
  /** Those of them that were there before. */
  readonly alreadyThere: number
  readonly rejected: number
  readonly reasons: ReasonCounts
  readonly seconds: number
  /** The first row whose result is not known; undefined where each has one. */
  readonly nextRow: number | undefined
  /** What ended the run before its end, beside a signal. */
  readonly failure: unknown
}

/** One run over the rows of a file: reads, sends and shows them, and writes the rejects. */
export class ImportRun {
  readonly #parts: RunParts
  readonly #calls = new AbortController()
  readonly #queue = new RowQueue((record, result) => this.#onResult(record, result))
  readonly #reasons = new ReasonCounts()
  readonly #counts: Record<RowResult['type'], number> = { stored: 0, alreadyThere: 0, rejected: 0 }
  readonly #sent = new Map<number, Row>()
  readonly #progress: Progress
  readonly #beganAt = performance.now()
  #lastResultAt = performance.now()
  #isStopped = false
  #isRead = false
  #failure: unknown
  #endTimer: NodeJS.Timeout | undefined

  constructor(parts: RunParts) {
    this.#parts = parts
    this.#progress = startProgress(parts.terminal, () => this.#describeProgress(parts.input))
  }

  #describeProgress({ bytes, totalBytes }: Input) {
    const { stored, alreadyThere, rejected } = this.#counts
    const there = alreadyThere === 0 ? {} : { 'there already': alreadyThere }
    const silence = this.#queue.isEmpty ? 0 : performance.now() - this.#lastResultAt
    return {
      fraction: totalBytes ? bytes / totalBytes : undefined,
      counts: { rejected, ...there, stored },
      note: silence < SILENCE_MS ? undefined : `no response for ${formatDuration(silence / 1_000)}`,
    }
  }

  #stop(failure?: unknown): void {
    this.#failure ??= failure
    this.#isStopped = true
    this.#queue.release()
  }

  #onResult(record: PlantRecord, result: RowResult): void {
    this.#counts[result.type]++
    if (result.type !== 'rejected') return
    this.#reasons.add(result.reason)
    if (this.#counts.rejected <= MOST_SHOWN) {
      this.#progress.line(`  line ${record.line}: ${result.message}`)
    }
    try {
      this.#parts.rejects.add(record, result)
    } catch (error) {
      this.#stop(error)
    }
  }

  async *#read(): AsyncGenerator<NewPlant> {
    const { records, fromRow } = this.#parts
    let number = 0
    let sent = 0
    for await (const record of records) {
      if (++number < fromRow) continue
      await this.#queue.waitForRoom()
      if (this.#isStopped) return
      const row = this.#queue.add(record)
      if (record.plant === undefined) this.#queue.settle(row, toReject(record))
      else {
        this.#sent.set(sent++, row)
        yield record.plant
      }
    }
    if (number < fromRow - 1) {
      throw new CliError(`there are only ${formatCount(number)} rows`, exitCodes.usage)
    }
    this.#isRead = true
  }

  /** The plants to send. What ends the reading ends no call that is under way. */
  async *#plants(): AsyncGenerator<NewPlant> {
    try {
      yield* this.#read()
    } catch (error) {
      this.#stop(error instanceof InputStopped ? undefined : error)
    }
  }

  async #send(): Promise<void> {
    const { client, concurrency, maxOutageMs } = this.#parts
    const options = { concurrency, maxOutageMs, signal: this.#calls.signal }
    for await (const result of createPlants(client, this.#plants(), options)) {
      this.#lastResultAt = performance.now()
      const row = this.#sent.get(result.index)
      this.#sent.delete(result.index)
      const rowResult = toRowResult(result)
      if (row !== undefined && rowResult !== undefined) this.#queue.settle(row, rowResult)
      else if (!result.ok) this.#stop(result.error)
    }
  }

  /** Lets what is on its way come to its end, within bounds. */
  readonly #end = () => {
    this.#stop()
    this.#endTimer = setTimeout(() => this.#calls.abort(), MAX_ENDING_MS)
  }

  async run(): Promise<RunEnd> {
    const { terminal, fromRow } = this.#parts
    terminal.stop.addEventListener('abort', this.#end)
    if (terminal.stop.aborted) this.#end()
    await this.#send().catch((error: unknown) => this.#stop(error))
    clearTimeout(this.#endTimer)
    terminal.stop.removeEventListener('abort', this.#end)
    this.#progress.end()
    const { stored, alreadyThere, rejected } = this.#counts
    const isDone = this.#isRead && this.#queue.isEmpty && this.#failure === undefined
    return {
      stored: stored + alreadyThere,
      alreadyThere,
      rejected,
      reasons: this.#reasons,
      seconds: (performance.now() - this.#beganAt) / 1_000,
      nextRow: isDone ? undefined : fromRow + this.#queue.done,
      failure: this.#failure,
    }
  }
}
