import { type PlantFileFormatName, plantFileFormats } from '../src/plant-file.ts'

const LIMIT_BYTES = 65_536

/** Reads bytes in pieces of a size and gives, by line, the plant or the problem. */
export async function readAll(
  format: PlantFileFormatName,
  content: string | Uint8Array,
  pieceBytes = 65_536,
): Promise<(readonly [line: number, plantOrProblem: unknown])[]> {
  const bytes = Buffer.from(content)
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let start = 0; start < bytes.length; start += pieceBytes) {
      yield bytes.subarray(start, start + pieceBytes)
    }
  }
  const found: [number, unknown][] = []
  for await (const { line, plant, problem } of plantFileFormats[format].read(
    pieces(),
    LIMIT_BYTES,
  )) {
    found.push([line, plant ?? problem])
  }
  return found
}

/** What `export` writes for plants. */
export function writeAll(
  format: PlantFileFormatName,
  plants: Parameters<(typeof plantFileFormats)['csv']['write']>[0],
): string {
  const { header, write } = plantFileFormats[format]
  return header + write(plants)
}
