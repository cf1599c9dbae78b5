import type * as Library from '../src/index.ts'
import type { Script, SeenRequest } from './exchange.ts'

export type RuntimeKind = 'node' | 'bun' | 'deno' | 'browser'

/** What a runtime is to do, as JSON: one call by a client with short timeouts. */
export interface Order {
  readonly url: string
  /** Of the plant, whose name is always Fern; by default 7. Text, where a number would lose digits. */
  readonly id?: number | string
  readonly options?: Library.PlantStoreClientOptions
  /** When the call is aborted: so long after its first event of a type. */
  readonly abort?: { readonly on: Library.PlantStoreEvent['type']; readonly afterMs: number }
  /** What of the package undici Node's fetch sends through, for the time of the call. */
  readonly dispatcher?: 'Agent' | 'RetryAgent'
  /** Sends so many plants as a bulk instead, by and by. */
  readonly rows?: number
}

/** What it came to, as JSON. */
export interface Facts extends Partial<Library.PlantStoreMeta> {
  /** That of the error, or `stored`. */
  readonly code?: Library.PlantStoreErrorCode | 'stored'
  readonly applied?: Library.Applied
  readonly reason?: string | undefined
  readonly retryable?: boolean
  /** The plant in the response. */
  readonly plant?: Library.Plant
  /** Whether the error's cause is the reason of the abort. */
  readonly isReason?: boolean
  readonly msAfterAbort?: number
  readonly ms: number
  /** Of a bulk: whether each row is stored. */
  readonly rows?: readonly boolean[]
}

/** What it has to come to; where an array is given, one of its values. */
type Ends = { readonly [Name in keyof Facts]?: Facts[Name] | readonly Facts[Name][] }

export interface Call extends Omit<Order, 'url'> {
  /** The server of the case, the same by https, or where nobody listens. */
  readonly to?: 'server' | 'tls' | 'nobody'
  readonly ends: Ends
  /** What is otherwise where the case differs. */
  readonly differs?: Ends
}

export interface Case {
  /** A sentence that the calls decide. */
  readonly claim: string
  readonly script: Script
  /** One after the other. */
  readonly calls: readonly Call[]
  /** How many requests all of them take. */
  readonly requests?: number
  /** What else holds. */
  readonly check?: (facts: readonly Facts[], seen: readonly SeenRequest[], differs: boolean) => void
  /** Resets the first connection before any byte. */
  readonly refusesConnection?: true
  /** Whether it speaks TLS, under a certificate that nobody trusts. */
  readonly isTls?: true
  /** What it does to the beginning of a TLS handshake where it speaks none; by default, nothing. */
  readonly onHandshake?: Script
  /** Where something else is demanded, and why. */
  readonly differs?: Partial<Record<RuntimeKind, string>>
  /** Where it cannot be tried, and why. */
  readonly cannot?: Partial<Record<RuntimeKind, string>>
}

export const STORED: Call = { ends: { code: 'stored' } }

/** A call that sends once. */
export const once = (ends: Ends, more: Partial<Call> = {}): Call => ({
  ends,
  ...more,
  options: { maxRetries: 0, ...more.options },
})
