import {
  decodeJson,
  encodeJson,
  INT64_MAX,
  type JsonWritable,
  NewPlant,
} from '@plant-store/contract'

/** The plant that a body holds, its id exact; undefined where the server would refuse the body. */
export function readPlant(body: string): NewPlant | undefined {
  try {
    return NewPlant.safeParse(decodeJson(new TextEncoder().encode(body))).data
  } catch {
    return undefined
  }
}

/** A plant as a body, without a blank. */
export function writePlant(plant: NewPlant): string {
  return encodeJson(plant)
}

/** The fields that a plant has, in their order. */
export function fieldsOf(plant: NewPlant): [name: string, value: JsonWritable][] {
  const all: [string, JsonWritable | undefined][] = Object.entries(plant)
  return all.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
}

/** A plant as a body for people, a line for each field. */
export function writePlantInLines(plant: NewPlant): string {
  const lines = fieldsOf(plant).map(
    ([name, value]) => `  ${encodeJson(name)}: ${encodeJson(value)}`,
  )
  return `{\n${lines.join(',\n')}\n}`
}

/** An id that nobody has yet: 63 bits of chance. */
export function chooseId(): bigint {
  const [bits = 0n] = crypto.getRandomValues(new BigUint64Array(1))
  return bits & INT64_MAX
}
