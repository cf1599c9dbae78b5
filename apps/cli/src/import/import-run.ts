import type { CreatePlantsProgress, PlantStoreError } from '@plant-store/client'
import {
  createRejectsWriter,
  type PlantFileReader,
  type Progress,
  type ProgressState,
  startProgress,
} from '@plant-store/plant-files'
import { CliError } from '../cli-error.ts'
import type { Connection } from '../connection.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Terminal } from '../terminal.ts'
import { ImportNotes } from './import-notes.ts'
import type { ImportSession } from './import-session.ts'
import type { ImportSettings } from './import-settings.ts'
import type { Input } from './input.ts'
import type { ImportMark } from './journal.ts'
import { countRejected } from './mark.ts'
import { describeState } from './progress.ts'
import { RowDigest } from './row-digest.ts'
import { RowFeed } from './row-feed.ts'
import type { RowResult } from './row-result.ts'
import { type Row, RowWindow } from './row-window.ts'
import { sendRows } from './send-rows.ts'

/** How long what is on its way may take once the import has to end. */
const MAX_ENDING_MS = 5_000

/** How many rejects are shown by themselves. */
export const MOST_SHOWN = 5

export interface RunParts {
  readonly input: Input
  readonly reader: PlantFileReader
  readonly connection: Connection
  readonly session: ImportSession
  readonly settings: ImportSettings
  readonly terminal: Terminal
}

/** How a run ended; the mark is on the disk. */
export interface RunEnd {
  readonly mark: ImportMark
  /** Whether every row has its result. */
  readonly isDone: boolean
  readonly failure: PlantStoreError | undefined
  readonly hasTooManyRejects: boolean
}

/** One run over the rows of a file: reads, sends, notes and shows, each at its own pace. */
export class ImportRun {
  readonly #parts: RunParts
  readonly #window = new RowWindow()
  readonly #digest = new RowDigest()
  readonly #calls = new AbortController()
  readonly #feed: RowFeed
  readonly #notes: ImportNotes
  readonly #progress: Progress
  readonly #counts: Record<RowResult['type'], number>
  #shown: number
  #bulk: CreatePlantsProgress | undefined
  #endTimer: NodeJS.Timeout | undefined

  constructor(parts: RunParts) {
    const { input, reader, session, settings, terminal } = parts
    const { mark } = session
    this.#parts = parts
    this.#shown = countRejected(mark)
    this.#counts = { stored: mark.stored, alreadyThere: mark.alreadyThere, rejected: this.#shown }
    this.#feed = new RowFeed({
      records: reader.records(),
      window: this.#window,
      digest: this.#digest,
      from: mark,
      notedRows: () => this.#notes.mark.rows,
      onReject: () => this.#onResult('rejected'),
      describeOtherRows: () => this.#describeOtherRows(),
    })
    this.#notes = new ImportNotes({
      ...session,
      window: this.#window,
      digest: this.#digest,
      writer: createRejectsWriter(reader.dialect),
      onReject: ({ record, result }) => this.#show(`line ${record.line}: ${result.message}`),
      onNote: () => this.#onNote(),
    })
    const target = {
      write: terminal.draw,
      isInteractive: terminal.isTerminal,
      columns: () => terminal.columns,
      mode: settings.progress,
    }
    this.#progress = startProgress(target, () => this.#describeProgress(input))
  }

  #describeOtherRows(): CliError {
    const { input, session } = this.#parts
    const journal = session.journal?.path
    return new CliError(
      `${input.name}: its first ${session.mark.rows} rows are not those that were imported`,
      exitCodes.usage,
      {
        hint: `put back the file that the import began with; or remove ${journal} to begin again, which stores nothing twice`,
      },
    )
  }

  #describeProgress({ bytes, totalBytes }: Input): ProgressState {
    const { stored, alreadyThere, rejected } = this.#counts
    const there = alreadyThere === 0 ? {} : { 'there already': alreadyThere }
    return {
      // The time left is measured from where the rows are new.
      fraction: this.#feed.isBehindMark && totalBytes ? bytes / totalBytes : undefined,
      counts: { stored: stored + alreadyThere, ...there, rejected },
      perSecond: this.#bulk?.perSecond,
      note: this.#bulk && describeState(this.#bulk.state),
    }
  }

  #show(line: string): void {
    if (this.#shown++ < MOST_SHOWN) this.#progress.line(`  ${line}`)
  }

  #onNote(): void {
    if (this.#notes.failure !== undefined) this.#feed.stop()
    this.#feed.wake()
  }

  #onResult(type: RowResult['type']): void {
    this.#counts[type]++
    if (this.#hasTooManyRejects) this.#feed.stop()
    this.#notes.onResult()
  }

  get #hasTooManyRejects(): boolean {
    return this.#counts.rejected > this.#parts.settings.maxRejects
  }

  /** Lets what is on its way come to its end, within bounds. */
  readonly #end = () => {
    this.#feed.stop()
    this.#parts.input.stop()
    this.#endTimer = setTimeout(() => this.#calls.abort(), MAX_ENDING_MS)
  }

  #send(): Promise<PlantStoreError | undefined> {
    const { connection, settings } = this.#parts
    return sendRows(this.#feed, {
      client: connection.client,
      concurrency: settings.concurrency,
      maxOutageMs: settings.maxOutageMs,
      signal: this.#calls.signal,
      onResult: (row: Row, result: RowResult) => {
        this.#window.finish(row, result)
        this.#onResult(result.type)
      },
      onProgress: (progress) => {
        this.#bulk = progress
      },
    })
  }

  /** @throws CliError where the file is another one now, or what became of rows cannot be noted. */
  async run(): Promise<RunEnd> {
    const { stop } = this.#parts.terminal
    stop.addEventListener('abort', this.#end)
    if (stop.aborted) this.#end()
    try {
      const failure = await this.#send().finally(() => this.#notes.close())
      return {
        mark: this.#notes.mark,
        isDone: this.#feed.isRead && this.#window.size === 0,
        failure,
        hasTooManyRejects: this.#hasTooManyRejects,
      }
    } finally {
      clearTimeout(this.#endTimer)
      stop.removeEventListener('abort', this.#end)
      this.#progress.end()
    }
  }
}
