export type Labels = Readonly<Partial<Record<string, string | number>>>

/** One value of a metric: a line of `/metrics`. */
export interface Measured {
  readonly name: string
  readonly labels: Labels
  readonly value: number
}
