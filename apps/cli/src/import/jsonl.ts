import { decodeJson, JsonSyntaxError, type JsonValue } from '@plant-store/contract'
import { CsvSplitter } from './csv-splitter.ts'
import {
  inQuotes,
  type PlantOrProblems,
  type PlantRecord,
  parsePlant,
  shorten,
} from './plant-record.ts'

/** A member as it stands in the line, where a number may have more digits than its value. */
function show(object: JsonValue, field: string, line: Buffer): string | undefined {
  const member = Object.entries(Object(object)).find(([name]) => name === field)?.[1]
  if (typeof member === 'string') return inQuotes(member)
  if (typeof member === 'object' && member !== null) return Array.isArray(member) ? '[…]' : '{…}'
  if (member === undefined) return undefined
  if (typeof member !== 'number' && typeof member !== 'bigint') return String(member)
  const texts = line.toString().matchAll(new RegExp(`"${field}"\\s*:\\s*([-+.\\deE]+)`, 'g'))
  // Of a number that no double holds exactly, NaN is all that is known.
  const isIt = (text: string) =>
    Number.isNaN(member) ? !/^-?\d+$/.test(text) : Number(text) === Number(member)
  for (const [, text = ''] of texts) if (isIt(text)) return shorten(text)
  return undefined
}

function decode(line: Buffer, id: bigint | undefined): PlantOrProblems {
  try {
    const value = decodeJson(line)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    const plant = isObject && id !== undefined ? { ...value, id } : value
    return parsePlant(plant, (field) => ({ column: field, value: show(value, field, line) }))
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    return { problems: [{ message: error.message }] }
  }
}

/**
 * Reads a plant from each line (https://jsonlines.org) of UTF-8; empty lines are passed over. Where
 * `firstId` is given, each line has its id by its place.
 */
export async function* readJsonl(
  chunks: AsyncIterable<Buffer>,
  firstId?: bigint,
): AsyncGenerator<PlantRecord> {
  let id = firstId
  for await (const { problem, fields: _, ...line } of new CsvSplitter(undefined).split(chunks)) {
    const meaning = problem ? { problems: [{ message: problem }] } : decode(line.source, id)
    yield { ...line, id, ...meaning }
    if (id !== undefined) id++
  }
}
