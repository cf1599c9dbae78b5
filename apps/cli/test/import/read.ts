import {
  type Format,
  openPlantFile,
  type PlantFile,
  type ReadOptions,
} from '../../src/import/plant-file.ts'
import { describeProblems, type PlantRecord } from '../../src/import/plant-record.ts'

/** Bytes in pieces of a size, as a stream gives them. */
export async function* inPieces(bytes: Buffer, pieceBytes: number): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += pieceBytes) {
    yield bytes.subarray(start, start + pieceBytes)
  }
}

/** Opens bytes as a file that is read in pieces of a size. */
export function open(
  content: string | Uint8Array,
  options: Partial<ReadOptions> = {},
  { name = '-', pieceBytes = 65_536 } = {},
): Promise<PlantFile> {
  const pieces = inPieces(Buffer.from(content), pieceBytes)
  return openPlantFile(pieces, name, { columns: {}, ...options })
}

export async function recordsOf(file: Pick<PlantFile, 'records'>): Promise<PlantRecord[]> {
  const records: PlantRecord[] = []
  for await (const record of file.records()) records.push(record)
  return records
}

/** A plant, or what is wrong with it. */
export function meaningOf({ plant, problems = [] }: PlantRecord): unknown {
  return plant ?? describeProblems(problems)
}

/** By line, the plant or what is wrong with it. */
export async function readAll(
  format: Format,
  content: string | Uint8Array,
  pieceBytes = 65_536,
): Promise<(readonly [line: number, plantOrProblem: unknown])[]> {
  const file = await open(content, { format }, { pieceBytes })
  return (await recordsOf(file)).map((record) => [record.line, meaningOf(record)])
}
