import * as z from 'zod/mini'
import { ErrorBody, type ErrorName, errorTable } from '../error.ts'
import { encodeJson, type JsonWritable } from '../json.ts'
import { INT64_MAX, INT64_MIN, NewPlant, Plant, STORABLE_TEXT } from '../plant.ts'
import { errorTexts, listErrors } from './errors.ts'

type JsonObject = { readonly [key: string]: JsonWritable }

/** An object schema as far as the document needs to know it. */
interface ObjectJsonSchema {
  readonly properties: Readonly<Record<string, JsonObject>>
  readonly required: readonly string[]
}

const TEXT_RULE =
  'Well-formed Unicode, so no lone surrogate, without U+0000, of any length that the body limit allows, the empty text included. Nothing is trimmed, folded or normalised.'

/**
 * STORABLE_TEXT as every engine of regular expressions reads it. Surrogates cannot stand in it:
 * Ruby, PCRE and Rust refuse such a class, and without Unicode mode it refuses emoji in JavaScript
 * and .NET. So TEXT_RULE says them in words.
 */
const TEXT_PATTERN = '^[^\\x00]*$'

/** What the document says of a member: words, and a value that is sent. */
interface MemberText {
  readonly description: string
  readonly example: JsonWritable
}

const plantMembers: Readonly<Record<keyof NewPlant, MemberText>> = {
  id: {
    description: `The identification number of the plant, chosen by the caller. Any spelling of such a number is taken (7, 7.0, 70e-1), and every digit is kept: from ${INT64_MIN} to ${INT64_MAX}. A number of JavaScript, or any other double, cannot hold each of them: 9007199254740993 becomes 9007199254740992, and 200 does not show it. Such a client must write ids beyond ±9007199254740991 from a BigInt or a text.`,
    example: 7,
  },
  name: { description: `The name of the plant. ${TEXT_RULE}`, example: 'Fern' },
  tag: {
    description: `A tag that specifies the type of the plant. ${TEXT_RULE} No tag and an empty tag are different.`,
    example: 'indoor',
  },
}

const errorMembers: Readonly<Record<keyof ErrorBody, MemberText>> = {
  error: {
    description: `What went wrong, as a number that never changes its meaning: three digits of status, two of detail. More numbers may be added.\n\n${listErrors(Object.keys(errorTable) as ErrorName[])}`,
    example: errorTable.invalid_token.code,
  },
  message: {
    description: 'What went wrong, in words for people; it may change.',
    example: errorTexts.invalid_token.message,
  },
}

const newPlantExamples = {
  withTag: { summary: 'With a tag', value: { id: 7, name: 'Fern', tag: 'indoor' } },
  withoutTag: { summary: 'Without a tag', value: { id: 8, name: 'Moss' } },
} as const

/** Bodies of the request, by what is to be seen in them. */
export const bodyExamples: JsonObject = newPlantExamples

/** Responses to `bodyExamples`. */
export const plantExamples: JsonObject = {
  withTag: { summary: 'With a tag', value: { name: 'Fern', tag: 'indoor' } },
  withoutTag: { summary: 'Without a tag', value: { name: 'Moss' } },
}

/** A reference to something in `components`. */
export function referTo(kind: 'schemas' | 'headers', name: string): JsonObject {
  return { $ref: `#/components/${kind}/${name}` }
}

/**
 * What zod makes of a schema of the contract, as it is sent: members beyond it are allowed.
 * zod leaves out the format of an int32. An int64 has its format and no bounds: makers of clients
 * in JavaScript read them as doubles, and let 2^63 through, while they know the format exactly.
 */
function makeJsonSchema<Name extends string>(
  schema: z.core.$ZodType,
  members: Readonly<Record<Name, MemberText>>,
) {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      const { def } = zodSchema._zod
      if ('format' in def && def.format === 'int32') jsonSchema.format = 'int32'
      if (jsonSchema.pattern === STORABLE_TEXT.source) jsonSchema.pattern = TEXT_PATTERN
    },
  })
  const described = Object.entries(properties).map(([name, property]) => {
    const { type, format, ...rules } = property as JsonObject
    const { description, example } = members[name as Name]
    const words = { description, examples: [example] }
    return [name, { type, ...words, ...(format && { format }), ...rules }]
  })
  return { properties: Object.fromEntries(described), required } as ObjectJsonSchema
}

function describeObject(
  { properties, required }: ObjectJsonSchema,
  more: { readonly description?: string; readonly examples?: readonly JsonWritable[] } = {},
): JsonObject {
  const { description, examples } = more
  return {
    type: 'object',
    ...(description && { description }),
    required,
    properties,
    ...(examples && { examples }),
  }
}

/** What a schema adds to the one that it holds whole. */
function subtract(whole: ObjectJsonSchema, part: ObjectJsonSchema): ObjectJsonSchema {
  for (const [name, rules] of Object.entries(part.properties)) {
    const isSame = encodeJson(whole.properties[name] ?? null) === encodeJson(rules)
    if (isSame && whole.required.includes(name) === part.required.includes(name)) continue
    throw new Error(`${name} of a NewPlant is not that of a Plant, so allOf would not say it`)
  }
  const added = Object.entries(whole.properties).filter(([name]) => !(name in part.properties))
  const required = whole.required.filter((name) => !part.required.includes(name))
  return { properties: Object.fromEntries(added), required }
}

/** Plant, NewPlant and Error, from the schemas that the server checks by. */
export function describeSchemas(): JsonObject {
  const plant = makeJsonSchema(Plant, plantMembers)
  const added = subtract(makeJsonSchema(NewPlant, plantMembers), plant)
  return {
    Plant: describeObject(plant, {
      description: 'A plant as it is answered.',
      examples: [{ name: 'Fern', tag: 'indoor' }],
    }),
    NewPlant: {
      type: 'object',
      description:
        'A plant as it is sent: a Plant with its id. Members beyond these are ignored; of a member that is there more than once, the last one counts.',
      allOf: [referTo('schemas', 'Plant'), describeObject(added)],
      // Postman makes no members for an object without.
      properties: {},
      examples: [newPlantExamples.withTag.value],
    },
    Error: describeObject(makeJsonSchema(ErrorBody, errorMembers), {
      description: 'The body of every answer that is not 200.',
      examples: [{ error: errorMembers.error.example, message: errorMembers.message.example }],
    }),
  }
}
