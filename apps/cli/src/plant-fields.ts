import type { NewPlant } from '@plant-store/contract'

export type PlantField = keyof NewPlant

/** How a field of a plant is written in a text, such as a cell of CSV. */
interface FieldText {
  readonly isRequired: boolean
  /** Whether its values are texts themselves. */
  readonly isText: boolean
  /** The value that a text means; a text that means none is given back, for the contract to refuse. */
  readonly fromText: (text: string) => unknown
}

/** An integer with all of its digits; int64 has at most 19. */
const INTEGER = /^-?(?:0|[1-9]\d{0,18})$/

const text = { isText: true, fromText: (value: string) => value }

/** Every field of a plant; the type check demands each field of the contract here. */
export const plantFields: { readonly [Field in PlantField]-?: FieldText } = {
  id: {
    isRequired: true,
    isText: false,
    fromText: (value) => (INTEGER.test(value) ? BigInt(value) : value),
  },
  name: { ...text, isRequired: true },
  tag: { ...text, isRequired: false },
}

export const plantFieldNames = Object.keys(plantFields) as readonly PlantField[]
