import { describe, expect, test } from 'vitest'
import {
  type Change,
  ERROR,
  errorOf,
  findingsOf,
  ID,
  idOf,
  PLANT,
  plantOf,
  rename,
} from './changed-document.ts'

const NAME = `${PLANT}/properties/name`

describe('of a field', () => {
  test.each<[claim: string, change: Change, found: string[]]>([
    [
      'another name',
      (document) => rename(plantOf(document).properties, 'tag', 'label'),
      [
        `breaking request-property-removed ${PLANT}/properties/tag`,
        `breaking response-property-removed ${PLANT}/properties/tag`,
        `additive request-property-added ${PLANT}/properties/label`,
        `additive response-property-added ${PLANT}/properties/label`,
      ],
    ],
    [
      'one more that must be there',
      (document) => {
        plantOf(document).properties.colour = { type: 'string' }
        plantOf(document).required.push('colour')
      },
      [
        `breaking request-required-property-added ${PLANT}/properties/colour`,
        `additive response-property-added ${PLANT}/properties/colour`,
      ],
    ],
    [
      'one that could be left out and must be there',
      (document) => plantOf(document).required.push('tag'),
      [
        `breaking request-property-became-required ${PLANT}/properties/tag`,
        `additive response-property-became-required ${PLANT}/properties/tag`,
      ],
    ],
    [
      'one that had to be there and may be left out',
      (document) => {
        plantOf(document).required = []
      },
      [
        `breaking response-property-became-optional ${NAME}`,
        `additive request-property-became-optional ${NAME}`,
      ],
    ],
    [
      'the id that may be left out',
      (document) => {
        document.components.schemas.NewPlant.allOf[1].required = []
      },
      [`additive request-property-became-optional ${ID}`],
    ],
    [
      'no message of an Error',
      (document) => delete errorOf(document).properties.message,
      [`breaking response-property-removed ${ERROR}/properties/message`],
    ],
  ])('%s', (_claim, change, found) => {
    expect(findingsOf(change)).toEqual(found)
  })
})

describe('of the values of an id, which callers send,', () => {
  test.each<[claim: string, rules: Record<string, unknown>, found: string[]]>([
    [
      'a smaller maximum',
      { maximum: 2 ** 53 },
      [`breaking request-maximum-narrowed ${ID}/maximum`],
    ],
    [
      'a maximum that is smaller by one beyond 2^53',
      { maximum: 2n ** 63n - 2n },
      [`breaking request-maximum-narrowed ${ID}/maximum`],
    ],
    [
      'a larger maximum',
      { maximum: 2n ** 63n },
      [`additive request-maximum-widened ${ID}/maximum`],
    ],
    ['no maximum', { maximum: undefined }, [`additive request-maximum-widened ${ID}/maximum`]],
    ['a larger minimum', { minimum: 0 }, [`breaking request-minimum-narrowed ${ID}/minimum`]],
    [
      'a smaller minimum',
      { minimum: -(2n ** 64n) },
      [`additive request-minimum-widened ${ID}/minimum`],
    ],
    ['any number', { type: 'number' }, [`additive request-type-widened ${ID}/type`]],
    ['text as well', { type: ['integer', 'string'] }, [`additive request-type-widened ${ID}/type`]],
    ['text instead', { type: 'string' }, [`breaking request-type-changed ${ID}/type`]],
    ['another format', { format: 'int32' }, [`breaking request-format-changed ${ID}/format`]],
    ['a list of values', { enum: [1, 2] }, [`breaking request-enum-narrowed ${ID}/enum`]],
    [
      'a rule unknown here',
      { multipleOf: 2 },
      [`breaking request-multipleOf-changed ${ID}/multipleOf`],
    ],
    [
      'other words',
      { description: 'a' },
      [`editorial request-description-changed ${ID}/description`],
    ],
  ])('%s', (_claim, rules, found) => {
    const change: Change = (document) => {
      for (const [rule, value] of Object.entries(rules)) {
        if (value === undefined) delete idOf(document)[rule]
        else idOf(document)[rule] = value
      }
    }
    expect(findingsOf(change)).toEqual(found)
  })
})

describe('of the values of a name, which is sent and answered,', () => {
  test.each<[claim: string, rules: Record<string, unknown>, found: string[]]>([
    [
      'no pattern',
      { pattern: undefined },
      [
        `breaking response-pattern-widened ${NAME}/pattern`,
        `additive request-pattern-widened ${NAME}/pattern`,
      ],
    ],
    [
      'another pattern',
      { pattern: '^a$' },
      [
        `breaking request-pattern-changed ${NAME}/pattern`,
        `breaking response-pattern-changed ${NAME}/pattern`,
      ],
    ],
    [
      'a longest length',
      { maxLength: 100 },
      [
        `breaking request-maxLength-narrowed ${NAME}/maxLength`,
        `additive response-maxLength-narrowed ${NAME}/maxLength`,
      ],
    ],
    [
      'null as well',
      { type: ['string', 'null'] },
      [`breaking response-type-widened ${NAME}/type`, `additive request-type-widened ${NAME}/type`],
    ],
  ])('%s', (_claim, rules, found) => {
    const change: Change = (document) => {
      const { name } = plantOf(document).properties
      plantOf(document).properties.name = JSON.parse(JSON.stringify({ ...name, ...rules }))
    }
    expect(findingsOf(change)).toEqual(found)
  })

  test('one more and one less of a list of values', () => {
    const list =
      (values: string[]): Change =>
      (document) => {
        plantOf(document).properties.name.enum = values
      }
    expect(findingsOf(list(['a', 'b']), list(['a']))).toEqual([
      `breaking response-enum-widened ${NAME}/enum`,
      `additive request-enum-widened ${NAME}/enum`,
    ])
    expect(findingsOf(list(['a', 'c']), list(['a', 'b']))).toEqual([
      `breaking request-enum-changed ${NAME}/enum`,
      `breaking response-enum-changed ${NAME}/enum`,
    ])
  })

  test('what a rule unknown here refers to', () => {
    const refer: Change = (document) => {
      document.components.schemas.Word = { type: 'string' }
      plantOf(document).properties.name.not = { anyOf: [{ $ref: '#/components/schemas/Word' }] }
    }
    const change: Change = (document) => {
      document.components.schemas.Word.type = 'integer'
    }
    expect(findingsOf(change, refer)).toEqual([
      `breaking request-not-changed ${NAME}/not`,
      `breaking response-not-changed ${NAME}/not`,
    ])
  })
})

test('parts of an allOf that contradict each other are not compared in silence', () => {
  const contradict: Change = (document) => {
    const [, added] = document.components.schemas.NewPlant.allOf
    added.properties.name = { type: 'integer' }
  }
  expect(() => findingsOf(contradict)).toThrow(/no rule compares .*name together with .*name/)
})
