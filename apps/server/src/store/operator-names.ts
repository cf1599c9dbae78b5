/** Names of what an operator may have to change or run, for messages. */
export interface OperatorNames {
  /** The program, as the reader can type it where he is. */
  program: string
  /** A command of the program with the settings that were given to this one, to be pasted. */
  commandLine: (words: string) => string
  /** Where the database is named. */
  databaseUrl: string
  /** What permits a database server that could lose commits. */
  allowDataLoss: string
  /** The command that brings a schema to the newest version. */
  migrate: string
  /** The command that fills a store from a backup. */
  restore: string
  /** The command that checks a store. */
  doctor: string
  /** The command that moves plants to another database. */
  move: string
}

/** The names that messages of stores use: plain words until setOperatorNames. */
export const operatorNames: Readonly<OperatorNames> = {
  program: 'this program',
  commandLine: (words) => words,
  databaseUrl: 'the database URL',
  allowDataLoss: 'the permission to lose data',
  migrate: 'the migrations',
  restore: 'restore',
  doctor: 'the health checks',
  move: 'the move',
}

/**
 * Sets the names for the whole process. A store knows no setting and no command, so that the program
 * around it names them, before it opens one. A getter is asked at each use.
 */
export function setOperatorNames(names: OperatorNames): void {
  Object.defineProperties(operatorNames, Object.getOwnPropertyDescriptors(names))
}
