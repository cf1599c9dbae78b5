import type { Config } from '../../config/config.ts'
import type { SentError } from '../../store/sent-error.ts'
import type { ProcessCounts } from '../limits/process-counts.ts'
import type { Address } from '../listener.ts'

/** What the thread of a loop is made with. */
export interface LoopData {
  /** From 1 up; it stands in each line of its log. */
  readonly loop: number
  readonly config: Config
  readonly counts: ProcessCounts
  /** StoreShare.data. */
  readonly share: unknown
  /** Whether standard error is a terminal with colours, which only the main thread sees. */
  readonly hasColors: boolean
}

/** What a loop may be asked: whether it is there, or what it has measured. */
export type Question =
  | { readonly about: 'ready' }
  /** With names, only of these metrics. */
  | { readonly about: 'metrics'; readonly names: readonly string[] | undefined }

/** What the main thread tells a loop. */
export type ToLoop =
  | { readonly type: 'listen'; readonly address: Address }
  | { readonly type: 'ask'; readonly id: number; readonly question: Question }
  | { readonly type: 'announceClose' }
  | { readonly type: 'close'; readonly deadlineMs: number | undefined }
  | { readonly type: 'logLevel'; readonly level: string }

/** What a loop tells the main thread. */
export type FromLoop =
  /** It could listen now. */
  | { readonly type: 'prepared' }
  | { readonly type: 'listening'; readonly url: string }
  /** It could not prepare or listen, and ends. */
  | { readonly type: 'failed'; readonly error: SentError }
  | { readonly type: 'reply'; readonly id: number; readonly value: unknown }
  /** A request could not be served. */
  | { readonly type: 'suspect' }
/** It has replied outcome_unknown. */
