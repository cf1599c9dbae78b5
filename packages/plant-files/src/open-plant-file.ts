import type { Dialect, ReadOptions } from './dialect.ts'
import { plantFieldNames } from './plant-fields.ts'
import { formatOfFile, plantFileFormats } from './plant-file.ts'
import type { PlantRecord } from './plant-record.ts'

export interface PlantFileReader {
  readonly dialect: Dialect
  /** Every record in order, once; empty lines are passed over. */
  records(): AsyncIterable<PlantRecord>
}

/**
 * Reads the beginning of a file to find out how it is written.
 * Memory is bounded by `limitBytes`, whatever the bytes are.
 * @throws PlantFileError when no record can be read, also from `records()`.
 */
export async function openPlantFile(
  chunks: AsyncIterable<Uint8Array>,
  nameOfFile: string,
  { format = formatOfFile(nameOfFile) ?? 'jsonl', limitBytes }: ReadOptions,
): Promise<PlantFileReader> {
  const isCsv = format === 'csv'
  async function* records(): AsyncGenerator<PlantRecord> {
    for await (const record of plantFileFormats[format].read(chunks, limitBytes)) {
      const { line, plant, problem } = record
      const source = { line, lastLine: line, source: new Uint8Array(), isCut: false }
      if (plant) yield { ...source, plant }
      else yield { ...source, problem, problems: [{ message: problem }] }
    }
  }
  return {
    dialect: {
      format,
      isGzip: false,
      encoding: 'utf-8',
      hasByteOrderMark: false,
      delimiter: isCsv ? ',' : undefined,
      hasHeader: isCsv ? true : undefined,
      isRejects: false,
      columns: isCsv ? plantFieldNames.map((field) => ({ name: field, field })) : [],
      doubts: [],
      sample: [],
    },
    records,
  }
}
