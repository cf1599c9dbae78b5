import type { StoreObserver } from './observer.ts'
import type { PlantSnapshot, Store, TokenRecord } from './store.ts'

/** A kind of database: everything that this program does with a URL of its schemes. */
export interface Engine {
  /** The schemes of its URLs, without the colon. */
  readonly schemes: readonly string[]
  /** What its URLs look like. */
  readonly form: RegExp
  /** The same for people: `sqlite: and a path`. */
  readonly formInWords: string
  /** A URL without what may be a password; undefined where that is in doubt. */
  withoutSecrets(databaseUrl: string): string | undefined
  /** The database that a URL of this form names; nothing is opened yet. */
  at(databaseUrl: string): EngineDatabase
}

/** One database, before it is opened. Every method may throw StoreRefusedError. */
export interface EngineDatabase {
  /** @throws StoreUnavailableError when it cannot be reached now. */
  open(options: OpenOptions): Promise<Store>
  /** @throws StoreUnavailableError when it cannot be reached now. */
  snapshot(): Promise<PlantSnapshot>
  /** Brings the schema to the newest version; a missing database may be made. */
  migrate(options: MigrateOptions): Promise<Migrated>
  /** The same, and spreads the tables over the nodes of the database; undefined where there are none. */
  migrateDistributed?(options: MigrateOptions): Promise<Migrated>
  /**
   * What is worth knowing of it, for operators; changes nothing.
   * @throws what keeps a server from opening it.
   */
  facts(options: OpenOptions): Promise<StoreFacts>
  /** Backup and restore, or what to use instead. */
  readonly copies: Copies | CopiesElsewhere
}

/** Something that is true of a store, such as how many plants it holds. */
export interface Fact {
  readonly name: string
  readonly value: string
  /** What is wrong with it, where something is. */
  readonly warning?: string
  /** What to do about that. */
  readonly fix?: string
}

export interface StoreFacts {
  readonly facts: readonly Fact[]
  /** undefined where there are none to read yet. */
  readonly tokens: readonly TokenRecord[] | undefined
}

export interface OpenOptions extends MigrateOptions {
  /** The URL as it is said now; asked where the database refuses the user. Default: as before. */
  readonly readDatabaseUrl?: (() => string) | undefined
  readonly observer?: StoreObserver | undefined
  /** Refuses a store that is missing, instead of making one where the engine could. */
  readonly mustExist?: boolean
}

export interface MigrateOptions {
  /** Accepts a database server that could lose a commit after its 200. */
  readonly allowDataLoss: boolean
}

/** Schema versions before and after a migration. */
export interface Migrated {
  readonly before: number
  readonly after: number
  /** The database, for people, without user and password. */
  readonly place: string
  /** What else to know about migrations of this engine. */
  readonly note?: string
}

/** What a store holds, as one transaction sees it. */
export interface StoreContents {
  readonly plants: number
  readonly tokens: number
}

export interface CopyOptions {
  /** Aborted to stop; the copy is then left unfinished. */
  readonly signal: AbortSignal
  /** Called with the fraction of the work that is done, from 0 to 1. */
  readonly onProgress?: ((fraction: number) => void) | undefined
}

export interface BackedUp extends StoreContents {
  /** Why the time of this backup could not be noted beside the store. */
  readonly noteError?: string | undefined
}

/** What came back from a backup. */
export interface Restored extends StoreContents {
  readonly restoredTokens: readonly TokenRecord[]
}

/** Copies between this database and files, each checked to its last page. */
export interface Copies {
  /** The file of the database. */
  readonly file: string
  /** Copies the database, which may be written to meanwhile, into a new file. */
  backUp(target: string, options: CopyOptions): Promise<BackedUp>
  /** Makes the database, which must not be there, from a backup: all or nothing. */
  restore(backup: string, options: CopyOptions): Promise<Restored>
}

/** The engine's own programs for copies: for each a command line, with capitals to fill in. */
export interface CopiesElsewhere {
  readonly engine: string
  readonly backUpBy: string
  readonly restoreBy: string
  /** How these programs take the password. */
  readonly password: string
}
