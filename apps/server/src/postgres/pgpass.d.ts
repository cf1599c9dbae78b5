declare module 'pgpass' {
  interface Wanted {
    readonly host: string
    readonly port: number
    readonly database: string | undefined
    readonly user: string | undefined
  }

  /** Looks into the file that PGPASSFILE names, or ~/.pgpass; undefined where it has no response. */
  function pgpass(wanted: Wanted, give: (password: string | undefined) => void): void
  export = pgpass
}
