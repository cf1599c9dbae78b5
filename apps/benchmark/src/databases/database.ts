/** Where a contestant keeps its plants. */
export interface Database {
  /** The path of a SQLite file, or the URL of a PostgreSQL database. */
  readonly address: string
  countPlants(): Promise<number>
  drop(): Promise<void>
}

export type Engine = 'sqlite' | 'postgres'
