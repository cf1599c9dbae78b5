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
  facts(options: MigrateOptions): Promise<StoreFacts>
  /** Backup and restore, or what to use instead. */
  readonly copies: Copies | CopiesElsewhere
  /** Files that other users may use; none where the database is not a file of this machine. */
  findWideModes(): readonly WideMode[]
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
  readonly observer?: StoreObserver | undefined
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
  readonly schemaVersion: number
  readonly plants: number
  readonly tokens: number
}

export interface CopyOptions {
  /** Aborted to stop; the copy is then left unfinished. */
  readonly signal: AbortSignal
  /** Called with the fraction of the work that is done, from 0 to 1. */
  readonly onProgress?: ((fraction: number) => void) | undefined
}

export interface BackUpOptions extends CopyOptions {
  /** Makes the folder of the new file, for its owner only, if it is missing. */
  readonly makesFolder: boolean
}

/** What a backup holds that was read to its last byte. */
export interface Verified extends StoreContents {
  /** Whether its content was compared with the digest in it; those of earlier programs have none. */
  readonly isDigested: boolean
  /** Of its content, in hexadecimal. */
  readonly sha256: string
}

export interface BackedUp extends StoreContents {
  /** Why the time of this backup could not be noted beside the store. */
  readonly noteError?: string | undefined
}

/** What became of backups that are older than those to keep. */
export interface Discarded {
  readonly deleted: readonly string[]
  /** Those that may not be deleted, with the reason as the rest of a sentence. */
  readonly spared: readonly { readonly file: string; readonly reason: string }[]
}

export interface RestoreOptions extends CopyOptions {
  /** Moves the files of the store that is there, if any, to names with the time. */
  readonly setAside: boolean
}

/** What came back from a backup. */
export interface Restored extends StoreContents {
  /** The name that the database of the store that was there has now, if files were set aside. */
  readonly setAside?: string | undefined
  /** Whether the backup was compared with the digest in it; those of earlier programs have none. */
  readonly isDigested: boolean
  /** The tokens that the store has now and had not before. */
  readonly addedTokens: readonly TokenRecord[]
}

/** Copies between this database and files. */
export interface Copies {
  /** The file of the database. */
  readonly file: string
  /** Copies the database, which may be written to meanwhile, into a new file. */
  backUp(target: string, options: BackUpOptions): Promise<BackedUp>
  /** Reads a backup to its last byte, and changes nothing. */
  verify(backup: string, options: CopyOptions): Promise<Verified>
  /**
   * Deletes the good backups of the same store that are older than the newest `keep`, by the times in
   * their names.
   */
  discardOld(newest: string, keep: number, options: CopyOptions): Promise<Discarded>
  /** Fills the database, which must hold no plants unless it is set aside, from a backup: all or nothing. */
  restore(backup: string, options: RestoreOptions): Promise<Restored>
}

/** The engine's own programs for copies: for each a command line, with capitals to fill in. */
export interface CopiesElsewhere {
  readonly engine: string
  readonly backUpBy: string
  readonly restoreBy: string
  /** How these programs take the password. */
  readonly password: string
}

/** A file of a store, or its folder, that others than its owner may use. */
export interface WideMode {
  readonly path: string
  /** In octal, such as `644`. */
  readonly mode: string
  readonly othersMay: 'read' | 'change'
  /** What to do about it. */
  readonly fix: string
}
