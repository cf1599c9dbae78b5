import type { NewPlant } from '@plant-store/contract'
import type { CommitTiming, StoreMeasures } from './observer.ts'

export const createOutcomes = ['created', 'already_there', 'id_taken'] as const

/**
 * The outcome of a create, once it is on stable storage: the plant was `created` now, was
 * `already_there` with the same content, or its id was `id_taken` by other content.
 */
export type CreateOutcome = (typeof createOutcomes)[number]

/** Plants, each under the id that its caller chose. */
export interface PlantStore {
  /**
   * Stores a plant unless its id is taken; what is stored is never changed.
   * Resolves once the commit that holds the plant is on stable storage; `timing` is filled in then.
   * @throws StoreUnavailableError when surely nothing was stored: full disk, closed.
   * @throws OutcomeUnknownError when the plant may have been stored.
   */
  create(plant: NewPlant, timing?: CommitTiming): Promise<CreateOutcome>
}

/** From the first to the last of these ids. */
export interface IdRange {
  readonly first: bigint
  readonly last: bigint
}

/** Every plant as it was when the snapshot was opened, however long the reading takes. */
export interface PlantSnapshot {
  /** One line for people: engine, version and place. */
  readonly description: string
  /** In id order, in batches of bounded size; to be read once. */
  readonly batches: AsyncIterable<readonly NewPlant[]>
  /** Ids whose plants are damaged and were left out; known once `batches` was read. */
  readonly gaps: readonly IdRange[]
  close(): Promise<void>
}

/** An opaque token as it is kept: everything about it but its secret. Times are Unix ms. */
export interface TokenRecord {
  readonly id: string
  readonly name: string
  readonly secretSha256: Uint8Array
  readonly createdAt: number
  readonly expiresAt: number | undefined
  readonly revokedAt: number | undefined
  readonly lastUsedAt: number | undefined
}

/** The tokens that open the service, kept beside the plants. Every method may throw StoreUnavailableError. */
export interface TokenStore {
  add(token: TokenRecord): Promise<void>
  find(id: string): Promise<TokenRecord | undefined>
  /** All tokens, oldest first. */
  list(): Promise<TokenRecord[]>
  /** Ends a token now; false when there is no such token or it was revoked before. */
  revoke(id: string, revokedAt: number): Promise<boolean>
  /** Stores `successor` and lets `id` end at `expiresAt` if it would end later, in one commit. */
  replace(id: string, expiresAt: number, successor: TokenRecord): Promise<void>
  markUsed(id: string, lastUsedAt: number): Promise<void>
}

/** An open database: plants, tokens, and whether it can be trusted. */
export interface Store {
  readonly plants: PlantStore
  readonly tokens: TokenStore
  /** One line for people: engine, version, and the settings behind "200 means durable". */
  readonly description: string
  /** Resolves, with what happened, once the store cannot be trusted any more: the process must end. */
  readonly failure: Promise<OutcomeUnknownError>
  /** How many plants there are, counted up to `most`; a million take SQLite up to 50 ms. */
  countPlants(most: number): Promise<number>
  /**
   * Whether a create would be stored now; after a failed commit this tries one.
   * @throws StoreUnavailableError with the reason, where it is known; for operators
   */
  isReady(): Promise<boolean>
  /** What it measures of itself, without a look into the database. */
  measure(): Promise<StoreMeasures>
  /** Commits what waits, then lets go of the database. */
  close(): Promise<void>
}

/** What an operator can do with an error, beside its message; callers never see it. */
export interface OperatorHints extends ErrorOptions {
  /** One word for programs, such as `not_migrated`. */
  readonly code?: string | undefined
  /** What to try, as the rest of a sentence: a command, or what to change. */
  readonly fix?: string | undefined
}

abstract class StoreError extends Error {
  readonly code: string | undefined
  readonly fix: string | undefined

  constructor(message: string, options: OperatorHints = {}) {
    super(message, options)
    this.code = options.code
    this.fix = options.fix
  }
}

/** Surely nothing was stored; the same create may succeed later. */
export class StoreUnavailableError extends StoreError {
  override name = 'StoreUnavailableError'
  /** The reason, where it is known. */
  readonly detail: string | undefined

  constructor(message: string, options: OperatorHints & { readonly detail?: string } = {}) {
    super(message, options)
    this.detail = options.detail
  }
}

/** A database that must not be used, left as it was; the message says why. */
export class StoreRefusedError extends StoreError {
  override name = 'StoreRefusedError'
}

/** The store was asked and its response is not known: the plant may have been stored. */
export class OutcomeUnknownError extends Error {
  override name = 'OutcomeUnknownError'
}
