import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { copierStates, moveCopier, type SharedCopierState } from './copier-state.ts'
import { LogFile } from './log-file.ts'

/** In frames; SQLite's own default (https://sqlite.org/pragma.html#pragma_wal_autocheckpoint). */
const CHECKPOINT_AT = 1_000

/** As many frames are copied and synced between two commits within a few ms. */
const FEW = 256

/** Longer than a copy takes, unless its thread has died. */
const PATIENCE_MS = 1_000

/** In frames: the log, and what of it is in the database already. */
interface LogState {
  readonly log: number
  readonly checkpointed: number
}

/**
 * Checkpoints beside the commits (https://sqlite.org/wal.html#ckpt): another thread copies the log
 * into the database, again and again until little was committed meanwhile. That little is copied
 * between two commits, after which the log begins anew. SQLite's own checkpoint copies and syncs
 * everything within one commit.
 */
export class Checkpoints {
  readonly #database: DatabaseSync
  readonly #state: SharedCopierState
  readonly #startCopier: () => void
  readonly #look: StatementSync
  readonly #checkpoint: StatementSync
  readonly #logFile: LogFile
  #isStarted = false
  #areOurs = false
  /** The log when the copy began that nothing has followed yet. */
  #copied: LogState | undefined
  /** The length of the log that a reader kept from being copied; 0 when none does. */
  #heldAt = 0

  constructor(database: DatabaseSync, state: SharedCopierState, startCopier: () => void) {
    this.#database = database
    this.#state = state
    this.#startCopier = startCopier
    this.#look = database.prepare('PRAGMA wal_checkpoint(NOOP)')
    this.#checkpoint = database.prepare('PRAGMA wal_checkpoint(PASSIVE)')
    this.#logFile = new LogFile(database)
  }

  /** To be called after each commit, when its outcomes have been sent. */
  afterCommit(): void {
    try {
      this.#decide(run(this.#look))
    } catch {
      // Another process repairs the log's index, or the disk is full: the log stays as it is.
    }
  }

  #decide(now: LogState): void {
    const state = Atomics.load(this.#state, 0)
    this.#setOurs(state !== copierStates.absent)
    if (state === copierStates.absent) this.#startOnce(now)
    else if (state !== copierStates.idle) this.#waitUnlessSlower(now, state)
    else if (this.#copied !== undefined) this.#goOn(this.#copied, now)
    else if (this.#isDue(now)) this.#copy(now)
  }

  /** A thread that died is not started again: what ended it is there still. */
  #startOnce({ log }: LogState): void {
    if (this.#isStarted || log < CHECKPOINT_AT) return
    this.#isStarted = true
    this.#startCopier()
  }

  #setOurs(areOurs: boolean): void {
    if (this.#areOurs === areOurs) return
    this.#areOurs = areOurs
    this.#database.exec(`PRAGMA wal_autocheckpoint = ${areOurs ? 0 : CHECKPOINT_AT}`)
  }

  #isDue(now: LogState): boolean {
    if (now.log < this.#heldAt) this.#heldAt = 0
    return restOf(now) >= CHECKPOINT_AT && now.log - this.#heldAt >= CHECKPOINT_AT
  }

  #copy(now: LogState): void {
    this.#copied = now
    moveCopier(this.#state, copierStates.idle, copierStates.copying)
  }

  /** A disk that copies more slowly than it commits would otherwise let the log grow for ever. */
  #waitUnlessSlower(now: LogState, state: number): void {
    if (this.#copied === undefined) return
    const written = now.log - this.#copied.log
    if (written < Math.max(CHECKPOINT_AT, restOf(this.#copied) / 2)) return
    Atomics.wait(this.#state, 0, state, PATIENCE_MS)
  }

  #goOn(copied: LogState, now: LogState): void {
    this.#copied = undefined
    const rest = restOf(now)
    const isHeld = now.checkpointed <= copied.checkpointed && now.log >= copied.log
    if (rest > FEW && isHeld) this.#heldAt = now.log
    else if (rest > FEW && rest < restOf(copied)) this.#copy(now)
    else this.#finish()
  }

  #finish(): void {
    const { log, checkpointed } = run(this.#checkpoint)
    this.#heldAt = checkpointed < log ? log : 0
    // Both are -1 while another process makes a checkpoint.
    if (checkpointed === log && log > 0) this.#logFile.cut(log)
  }
}

function run(statement: StatementSync): LogState {
  const { log, checkpointed } = statement.get() ?? {}
  return { log: Number(log), checkpointed: Number(checkpointed) }
}

function restOf({ log, checkpointed }: LogState): number {
  return log - checkpointed
}
