import { openPlantFile, type PlantFile, type ReadOptions } from '../../src/import/plant-file.ts'
import { describeProblems, type PlantRecord } from '../../src/import/plant-record.ts'

export type OpenOptions = ReadOptions & {
  readonly nameOfFile?: string
  readonly pieceBytes?: number
}

/** Bytes in pieces of a size, as a stream gives them. */
export async function* inPieces(bytes: Buffer, pieceBytes: number): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += pieceBytes) {
    yield bytes.subarray(start, start + pieceBytes)
  }
}

/** Opens bytes as a file that is read in pieces of a size. */
export function open(content: string | Uint8Array, options: OpenOptions = {}): Promise<PlantFile> {
  const { nameOfFile = '-', pieceBytes = 65_536 } = options
  return openPlantFile(inPieces(Buffer.from(content), pieceBytes), nameOfFile, options)
}

export async function recordsOf(file: Pick<PlantFile, 'records'>): Promise<PlantRecord[]> {
  const records: PlantRecord[] = []
  for await (const record of file.records()) records.push(record)
  return records
}

/** `1 Fern` or `2 Moss (indoor)` for a plant, else what is wrong with the record. */
export function meaningOf({ plant, problems = [] }: PlantRecord): string {
  if (plant === undefined) return describeProblems(problems)
  return `${plant.id} ${plant.name}${plant.tag === undefined ? '' : ` (${plant.tag})`}`
}

/** What each record means, behind its line: `2: 1 Fern`, `3: id: is required`. */
export async function readAll(content: string | Uint8Array, options?: OpenOptions) {
  const records = await recordsOf(await open(content, options))
  return records.map((record) => `${record.line}: ${meaningOf(record)}`)
}
