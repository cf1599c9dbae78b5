import type { PlantField } from './plant-fields.ts'

export const delimiters = [',', ';', '\t'] as const
export type Delimiter = (typeof delimiters)[number]

export const encodings = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const
export type Encoding = (typeof encodings)[number]

/** How the bytes of a file are to be read; what is not given is found out from its beginning. */
export interface ReadOptions {
  readonly format?: 'csv' | 'jsonl' | undefined
  readonly delimiter?: Delimiter | undefined
  /** A byte order mark counts more. */
  readonly encoding?: Encoding | undefined
  /** Whether the first line of CSV names the columns. */
  readonly hasHeader?: boolean | undefined
  /** The field of a column, by the name of the column or by its number from 1. */
  readonly columns?: Readonly<Record<string, PlantField>> | undefined
  /** Most bytes of a record, as UTF-8; a longer one is a problem of its line. */
  readonly limitBytes: number
  /** The flag that allows longer records, for their message. */
  readonly limitFlag?: string | undefined
}

export interface Column {
  /** As in the first line; `column 3` where there is no such line. */
  readonly name: string
  /** Undefined for a column that is passed over. */
  readonly field: PlantField | undefined
}

/** Why a guess may be wrong, and the flag that decides instead. */
export interface Doubt {
  readonly question: string
  readonly flag: string
}

/**
 * How a file is read, as it was given or found. The same bytes with the same options have the same
 * dialect. It is plain JSON.
 */
export interface Dialect {
  readonly format: 'csv' | 'jsonl'
  readonly isGzip: boolean
  readonly encoding: Encoding
  readonly hasByteOrderMark: boolean
  /** Undefined for JSON lines, as `hasHeader` is. */
  readonly delimiter: Delimiter | undefined
  readonly hasHeader: boolean | undefined
  /** Whether these are rejects, whose first columns are line, code and message. */
  readonly isRejects: boolean
  /** Empty for JSON lines. */
  readonly columns: readonly Column[]
  /** Empty where nothing is in doubt. */
  readonly doubts: readonly Doubt[]
  /** The fields of the first rows of CSV, five at most, shortened. */
  readonly sample: readonly (readonly string[])[]
}
