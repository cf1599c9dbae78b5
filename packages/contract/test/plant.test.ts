import { describe, expect, test } from 'vitest'
import { describeProblems, INT64_MAX, INT64_MIN, NewPlant, Plant } from '../src/index.ts'

const RANGE = 'must be an integer between -9223372036854775808 and 9223372036854775807'

function problemsOf(value: unknown): string {
  return describeProblems(NewPlant.safeParse(value).error?.issues ?? [])
}

describe('the id of a NewPlant', () => {
  test.each([
    [0, 0n],
    [-0, 0n],
    [Number.MAX_SAFE_INTEGER, 9007199254740991n],
    [Number.MIN_SAFE_INTEGER, -9007199254740991n],
    [9007199254740993n, 9007199254740993n],
    [INT64_MAX, 9223372036854775807n],
    [INT64_MIN, -9223372036854775808n],
  ])('%s becomes the bigint %s', (id, expected) => {
    expect(NewPlant.parse({ id, name: 'Fern' }).id).toBe(expected)
  })

  test.each([
    ['a double beyond the safe integers', 2 ** 53],
    ['a negative double beyond the safe integers', -(2 ** 53)],
    ['a bigint above int64', INT64_MAX + 1n],
    ['a bigint below int64', INT64_MIN - 1n],
    ['a fraction', 0.5],
    ['NaN', Number.NaN],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['null', null],
    ['a boolean', true],
    ['a string of digits', '7'],
    ['a Number object', Object(7)],
    ['an object that converts to a number', { valueOf: () => 7 }],
    ['an array of one number', [7]],
    ['a Date', new Date(0)],
  ])('%s is refused with the whole range in the message', (_what, id) => {
    expect(problemsOf({ id, name: 'Fern' })).toBe(`id: ${RANGE}`)
  })
})

describe('the text of a plant', () => {
  test('a tag of undefined is an absent one, an id or a name a missing one', () => {
    expect(problemsOf({ id: 7, name: 'Fern', tag: undefined })).toBe('')
    expect(problemsOf({})).toBe('id: is required; name: is required')
    expect(problemsOf({ id: undefined, name: undefined })).toBe(problemsOf({}))
  })

  test('every code point but U+0000 and the surrogates may stand in a name', () => {
    const refused: number[] = []
    for (let codePoint = 0; codePoint <= 0x10ffff; codePoint++) {
      const name = `a${String.fromCodePoint(codePoint)}b`
      if (!Plant.safeParse({ name }).success) refused.push(codePoint)
    }
    const surrogates = Array.from({ length: 0x800 }, (_, index) => 0xd800 + index)
    expect(refused).toEqual([0, ...surrogates])
  })

  test('nothing is trimmed, folded or normalised', () => {
    const plant = { name: ' E\u0301\u00c9\ufb01 ', tag: '\u200b' }
    expect(Plant.parse(plant)).toStrictEqual(plant)
  })
})

describe('a parsed plant', () => {
  test('has no other members than its own', () => {
    const parsed = NewPlant.parse({ id: 7, name: 'Fern', colour: 'green', tag: 'shade' })
    expect(parsed).toStrictEqual({ id: 7n, name: 'Fern', tag: 'shade' })
  })

  test.each([null, undefined, [], 'Fern', 7, 7n, true])('is never made of %s', (value) => {
    expect(problemsOf(value)).toBe('body: must be a JSON object with id and name')
  })
})

describe('problems in words', () => {
  const numbered = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ path: [`m${index + 1}`], message: 'is wrong' }))

  test('five problems are all shown, and of six the last is counted', () => {
    const five = 'm1: is wrong; m2: is wrong; m3: is wrong; m4: is wrong; m5: is wrong'
    expect(describeProblems(numbered(5))).toBe(five)
    expect(describeProblems(numbered(6))).toBe(`${five}; and 1 more`)
  })

  test('a path joins its steps with points, and a problem without one is one of the whole body', () => {
    const path = ['plants', 0, { key: 'name' }]
    expect(describeProblems([{ path, message: 'is wrong' }])).toBe('plants.0.name: is wrong')
    expect(describeProblems([{ message: 'is wrong' }])).toBe('body: is wrong')
    expect(describeProblems([{ path: [], message: 'is wrong' }])).toBe('body: is wrong')
  })

  test('the words never quote what was sent', () => {
    expect(problemsOf({ id: 'secret', name: 7, tag: ['secret'] })).not.toContain('secret')
  })
})
