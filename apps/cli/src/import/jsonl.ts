import { decodeJson, JsonSyntaxError, type JsonValue } from '@plant-store/contract'
import { plantFieldNames } from '../plant-fields.ts'
import { type Column, type ColumnOptions, fieldNear, ID_TWICE, saidOf } from './columns.ts'
import { CsvSplitter } from './csv-splitter.ts'
import { inQuotes, PlantFileError, type PlantRecord, parsePlant, shorten } from './plant-record.ts'

const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/

/** A string, with the colon behind a name, or a bracket. */
const TOKENS = new RegExp(`${STRING.source}(?=(\\s*:\\s*)?)|[[\\]{}]`, 'g')

const VALUE = new RegExp(`^(?:${STRING.source}|[[{]|[^\\s,}]+)`)

/** The text of an object, each name of a member replaced; `behind`: the text from its value on. */
function replaceNames(text: string, replace: (name: string, behind: string) => string): string {
  let depth = 0
  return text.replace(TOKENS, (token: string, colon: string | undefined, at: number) => {
    if (!token.startsWith('"')) depth += '[{'.includes(token) ? 1 : -1
    if (depth !== 1 || colon === undefined) return token
    return JSON.stringify(replace(JSON.parse(token), text.slice(at + token.length + colon.length)))
  })
}

/** A member as it stands in the line, where a number may have more digits than its value. */
function show(line: Buffer, field: string): string | undefined {
  const values: (string | undefined)[] = []
  replaceNames(line.toString(), (name, behind) => {
    if (name === field) values.push(VALUE.exec(behind)?.[0])
    return name
  })
  const value = values.at(-1)
  if (value === '[' || value === '{') return value === '[' ? '[…]' : '{…}'
  return value?.startsWith('"') ? inQuotes(JSON.parse(value)) : value && shorten(value)
}

function isObject(value: JsonValue): value is { [name: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The text of an object whose members have the names of their fields; `_` comes before those of none. */
function rename(text: string, names: readonly string[], said: readonly Column[]): string {
  return replaceNames(text, (name) => {
    const own = said.findLast((member) => member.name === name)
    if (own !== undefined) return own.field ?? `_${name}`
    const isTaken = said.some(({ field, name: from }) => field === name && names.includes(from))
    return isTaken ? `_${name}` : name
  })
}

/** What a line means, and the line itself, with the names that members have by what a person said. */
function readLine(line: Buffer, said: readonly Column[], id?: bigint) {
  let [source, names]: [Buffer, readonly string[]] = [line, []]
  try {
    let value = decodeJson(line)
    if (said.length > 0 && isObject(value)) {
      source = Buffer.from(rename(line.toString(), Object.keys(value), said))
      value = decodeJson(source)
    }
    names = Object.keys(Object(value))
    const plant = isObject(value) && id !== undefined ? { ...value, id } : value
    const locate = (field: string) => ({ column: field, value: show(source, field) })
    return { source, names, ...parsePlant(plant, locate) }
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    return { source, names, problems: [{ message: error.message }] }
  }
}

/**
 * The members that a person speaks of.
 * @throws PlantFileError for one of the first lines where another one is nearly a field that is not there
 */
export function findMembers(head: Buffer, isWhole: boolean, options: ColumnOptions) {
  const said = saidOf(options)
  const isNumbered = options.numberRows !== undefined
  if (isNumbered && said.some(({ field }) => field === 'id')) throw new PlantFileError(ID_TWICE)
  for (const { line, source } of new CsvSplitter(undefined).splitHead(head, isWhole)) {
    const { names } = readLine(source, said)
    for (const field of plantFieldNames) {
      if (names.includes(field) || (field === 'id' && isNumbered)) continue
      const name = names.find((other) => fieldNear(other) === field)
      if (name === undefined) continue
      const hint = `--map "${name}=${field}", or --ignore "${name}"`
      const why = `line ${line}: ${inQuotes(name)} may be the ${field}`
      throw new PlantFileError(`${why}. Try: ${hint}`)
    }
  }
  return said
}

/**
 * Reads a plant from each line (https://jsonlines.org) of UTF-8; empty lines are passed over. Where
 * `firstId` is given, each line has its id by its place.
 */
export async function* readJsonl(
  chunks: AsyncIterable<Buffer>,
  said: readonly Column[],
  firstId?: bigint,
): AsyncGenerator<PlantRecord> {
  let id = firstId
  for await (const { problem, fields: _, ...line } of new CsvSplitter(undefined).split(chunks)) {
    if (problem) yield { ...line, id, problems: [{ message: problem }] }
    else yield { ...line, id, ...readLine(line.source, said, id) }
    if (id !== undefined) id++
  }
}
