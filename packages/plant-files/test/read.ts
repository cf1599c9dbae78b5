import type { ReadOptions } from '../src/dialect.ts'
import { openPlantFile, type PlantFileReader } from '../src/open-plant-file.ts'
import { type PlantFileFormatName, plantFileFormats } from '../src/plant-file.ts'
import type { PlantRecord } from '../src/plant-record.ts'

export const LIMIT_BYTES = 65_536

/** Opens bytes as a file that is read in pieces of a size. */
export function open(
  content: string | Uint8Array,
  options: Partial<ReadOptions> = {},
  { name = '-', pieceBytes = 65_536 } = {},
): Promise<PlantFileReader> {
  const bytes = Buffer.from(content)
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let start = 0; start < bytes.length; start += pieceBytes) {
      yield bytes.subarray(start, start + pieceBytes)
    }
  }
  return openPlantFile(pieces(), name, { limitBytes: LIMIT_BYTES, ...options })
}

export async function recordsOf(reader: PlantFileReader): Promise<PlantRecord[]> {
  const records: PlantRecord[] = []
  for await (const record of reader.records()) records.push(record)
  return records
}

/** By line, the plant or the problem. */
export async function readAll(
  format: PlantFileFormatName,
  content: string | Uint8Array,
  pieceBytes = 65_536,
): Promise<(readonly [line: number, plantOrProblem: unknown])[]> {
  const reader = await open(content, { format }, { pieceBytes })
  return (await recordsOf(reader)).map(({ line, plant, problem }) => [line, plant ?? problem])
}

/** What `export` writes for plants. */
export function writeAll(
  format: PlantFileFormatName,
  plants: Parameters<(typeof plantFileFormats)['csv']['write']>[0],
): string {
  const { header, write } = plantFileFormats[format]
  return header + write(plants)
}
