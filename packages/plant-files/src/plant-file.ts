import type { NewPlant } from '@plant-store/contract'
import { csvHeader, writeCsv } from './csv.ts'
import { writeJsonl } from './jsonl.ts'

/** A way to keep plants in a file. A plant that was written is read again to the letter. */
export interface PlantFileFormat {
  /** What a file begins with. */
  readonly header: string
  /** Plants as text, whole lines. */
  write(plants: readonly NewPlant[]): string
}

export const plantFileFormats = {
  jsonl: { header: '', write: writeJsonl },
  csv: { header: csvHeader, write: writeCsv },
} as const satisfies Record<string, PlantFileFormat>

export type PlantFileFormatName = keyof typeof plantFileFormats

const FORMAT_BY_ENDING: Readonly<Record<string, PlantFileFormatName>> = {
  jsonl: 'jsonl',
  ndjson: 'jsonl',
  csv: 'csv',
  tsv: 'csv',
}

/** The format that the ending of a file's name stands for, before `.gz`; or undefined. */
export function formatOfFile(path: string): PlantFileFormatName | undefined {
  const name = path.toLowerCase().replace(/\.gz$/, '')
  return FORMAT_BY_ENDING[name.slice(name.lastIndexOf('.') + 1)]
}
