/** Names of what an operator may have to change or run, for messages. */
export interface OperatorNames {
  /** Where the database is named. */
  databaseUrl: string
  /** What permits a database server that could lose commits. */
  allowDataLoss: string
  /** The command that brings a schema to the newest version. */
  migrate: string
  /** The command that checks a store. */
  doctor: string
  /** The command that moves plants to another database. */
  move: string
}

/** The names that messages of stores use: plain words until setOperatorNames. */
export const operatorNames: Readonly<OperatorNames> = {
  databaseUrl: 'the database URL',
  allowDataLoss: 'the permission to lose data',
  migrate: 'the migrations',
  doctor: 'the health checks',
  move: 'the move',
}

/**
 * Sets the names for the whole process. A store knows no setting and no command, so that the program
 * around it names them, before it opens one.
 */
export function setOperatorNames(names: OperatorNames): void {
  Object.assign(operatorNames, names)
}
