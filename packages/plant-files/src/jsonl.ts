import { decodeJson, encodeJson, JsonSyntaxError, type NewPlant } from '@plant-store/contract'
import { readLines } from './lines.ts'
import { printable } from './printable.ts'
import { describeTooLong, type PlantRecord, parsePlant } from './record.ts'

/**
 * A plant on each line as a JSON object, its id a bare integer with every digit. Characters that a
 * terminal would obey are escaped, which does not change the JSON value.
 */
export function writeJsonl(plants: readonly NewPlant[]): string {
  return printable(plants.map((plant) => `${encodeJson(plant)}\n`).join(''))
}

function decode(bytes: Uint8Array): ReturnType<typeof parsePlant> {
  try {
    return parsePlant(decodeJson(bytes))
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    return { problem: error.message }
  }
}

const CARRIAGE_RETURN = 0x0d

function isBlank(bytes: Uint8Array): boolean {
  return bytes.length === 0 || (bytes.length === 1 && bytes[0] === CARRIAGE_RETURN)
}

/** Reads a plant from each line (https://jsonlines.org); empty lines are passed over. */
export async function* readJsonl(
  chunks: AsyncIterable<Uint8Array>,
  limitBytes: number,
): AsyncGenerator<PlantRecord> {
  for await (const { number: line, bytes } of readLines(chunks, limitBytes)) {
    if (bytes === undefined) yield { line, problem: describeTooLong(limitBytes) }
    else if (!isBlank(bytes)) yield { line, ...decode(bytes) }
  }
}
