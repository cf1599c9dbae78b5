import { decodeJson, encodeJson, INT64_MAX, NewPlant } from '@plant-store/contract'

/** The plant that a body holds, its id exact; undefined where the server would refuse the body. */
export function readPlant(body: string): NewPlant | undefined {
  try {
    return NewPlant.safeParse(decodeJson(new TextEncoder().encode(body))).data
  } catch {
    return undefined
  }
}

/** A plant as a body, without a blank. */
export function writePlant({ id, name, tag }: NewPlant): string {
  return encodeJson({ id, name, tag })
}

/** A plant as a body for people, a line for each field. */
export function writePlantInLines({ id, name, tag }: NewPlant): string {
  const fields = Object.entries({ id, name, tag }).filter(([, value]) => value !== undefined)
  const lines = fields.map(
    ([field, value]) => `  ${encodeJson(field)}: ${encodeJson(value ?? null)}`,
  )
  return `{\n${lines.join(',\n')}\n}`
}

/** An id that nobody has yet: 63 bits of chance. */
export function chooseId(): bigint {
  const [bits = 0n] = crypto.getRandomValues(new BigUint64Array(1))
  return bits & INT64_MAX
}
