import type { ProgressMode, ReadOptions } from '@plant-store/plant-files'
import type { Connection } from '../connection.ts'

/** What the flags of an import ask for, the same for each of its files. */
export interface ImportSettings {
  readonly read: ReadOptions
  /** The flags that change what a row means; an import goes on only with the same ones. */
  readonly meaning: Readonly<Record<string, unknown>>
  readonly isDryRun: boolean
  /** Whether a guess about how the file is written is taken without a question. */
  readonly takesGuess: boolean
  readonly rejects: string | undefined
  readonly journal: string | undefined
  /** How many rejects are too many by one. */
  readonly maxRejects: number
  readonly concurrency: number
  readonly maxOutageMs: number
  readonly progress: ProgressMode
  /** @throws CliError where URL or token is missing */
  readonly openConnection: () => Promise<Connection>
  /** The command that goes on with a file. */
  readonly commandFor: (file: string) => string
  /** The command that imports a file of rejects, once it is corrected. */
  readonly commandForRejects: (file: string) => string
}
