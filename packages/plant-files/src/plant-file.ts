import type { NewPlant } from '@plant-store/contract'
import { csvHeader, readCsv, writeCsv } from './csv.ts'
import { readJsonl, writeJsonl } from './jsonl.ts'
import type { PlantRecord } from './record.ts'

/** A way to keep plants in a file. A plant that was written is read again to the letter. */
export interface PlantFileFormat {
  /** What a file begins with. */
  readonly header: string
  /** Plants as text, whole lines. */
  write(plants: readonly NewPlant[]): string
  /**
   * Reads records from bytes that may be anything, in memory bounded by `limitBytes`:
   * a longer record is a problem of its line, and reading goes on behind it.
   * @throws PlantFileError when the whole file cannot be read.
   */
  read(chunks: AsyncIterable<Uint8Array>, limitBytes: number): AsyncIterable<PlantRecord>
}

export const plantFileFormats = {
  jsonl: { header: '', write: writeJsonl, read: readJsonl },
  csv: { header: csvHeader, write: writeCsv, read: readCsv },
} as const satisfies Record<string, PlantFileFormat>

export type PlantFileFormatName = keyof typeof plantFileFormats

const FORMAT_BY_ENDING: Readonly<Record<string, PlantFileFormatName>> = {
  jsonl: 'jsonl',
  ndjson: 'jsonl',
  csv: 'csv',
}

/** The format that the ending of a file's name stands for, or undefined. */
export function formatOfFile(path: string): PlantFileFormatName | undefined {
  return FORMAT_BY_ENDING[path.slice(path.lastIndexOf('.') + 1).toLowerCase()]
}
