import { NewPlant } from '@plant-store/contract'
import * as z from 'zod/mini'

export type PlantField = keyof NewPlant

/** How a field of a plant is written in a text, such as a cell of CSV. */
export interface FieldText {
  readonly isRequired: boolean
  /** Whether its values are texts themselves. */
  readonly isText: boolean
  /** The value that a text means; a text that means none is given back, for the contract to refuse. */
  readonly fromText: (text: string) => unknown
}

/** An integer with all of its digits; int64 has at most 19. */
const INTEGER = /^-?(?:0|[1-9]\d{0,18})$/

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

const fromText: Readonly<Record<string, FieldText['fromText']>> = {
  string: (text) => text,
  int64: (text) => (INTEGER.test(text) ? BigInt(text) : text),
  integer: (text) => (INTEGER.test(text) ? Number(text) : text),
  number: (text) => (NUMBER.test(text) ? Number(text) : text),
  boolean: (text) => ({ true: true, false: false })[text] ?? text,
}

const { properties = {}, required = [] } = z.toJSONSchema(NewPlant, {
  io: 'input',
  unrepresentable: 'any',
})

function describeField(field: string, schema: unknown): FieldText {
  const { type = '', format = type } = schema as {
    readonly type?: string
    readonly format?: string
  }
  const read = fromText[format] ?? fromText[type]
  if (read === undefined) throw new Error(`a field of type ${type} has no text: ${field}`)
  return { isRequired: required.includes(field), isText: type === 'string', fromText: read }
}

/** Every field of a plant, in the order of the contract's schema, which it is made from. */
export const plantFields = Object.fromEntries(
  Object.entries(properties).map(([field, schema]) => [field, describeField(field, schema)]),
) as { readonly [Field in PlantField]-?: FieldText }

export const plantFieldNames = Object.keys(plantFields) as readonly PlantField[]
