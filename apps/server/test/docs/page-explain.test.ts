import { type ErrorName, errorTable } from '@plant-store/contract'
import { errorTexts } from '@plant-store/contract/error-texts'
import { describe, expect, test } from 'vitest'
import { explain } from '../../page/explain.ts'
import { lessons } from '../../page/lessons.ts'
import { chooseId, readPlant, writePlantInLines } from '../../page/plant.ts'
import type { Answer } from '../../page/send.ts'

function answer(status: number, body: string, isReplay = false): Answer {
  return { status, body, ms: 1, requestId: null, retryAfter: null, isReplay }
}

function errorBody(error: number): string {
  return JSON.stringify({ error, message: 'words' })
}

describe('the page says of', () => {
  test('a first store and a repeat what became of the plant', () => {
    expect(explain(answer(200, '{"name":"Fern"}')).verdict).toBe('Stored')
    expect(explain(answer(200, '{"name":"Fern"}', true)).verdict).toBe('Already there')
  })

  test.each(Object.entries(errorTable))('%s what the contract says', (name, { code, status }) => {
    const { meaning, mayBeStored } = errorTexts[name as ErrorName]
    expect(explain(answer(status, errorBody(code)))).toEqual({
      verdict: mayBeStored ? 'May be stored' : 'Nothing stored',
      words: meaning,
      error: name,
    })
  })

  test.each([
    [400, 40099, 'Nothing stored'],
    [503, 50399, 'Nothing stored'],
    [500, 50099, 'May be stored'],
    [507, 50700, 'May be stored'],
  ])('%i with an unknown number %i: %s', (status, code, verdict) => {
    expect(explain(answer(status, errorBody(code)))).toMatchObject({ verdict })
    expect(explain(answer(status, errorBody(code)))).not.toHaveProperty('error')
  })

  test.each([
    [200, '<h1>Welcome</h1>'],
    [200, '{"id":7}'],
    [200, errorBody(40003)],
    [204, ''],
    [302, ''],
    [404, '<h1>Not found</h1>'],
    [502, '<h1>Bad gateway</h1>'],
    [504, '{"message":"late"}'],
  ])('%i %s of something else that the plant may be stored', (status, body) => {
    expect(explain(answer(status, body)).verdict).toBe('May be stored')
  })

  test('no answer that the plant may be stored', () => {
    expect(explain(undefined).verdict).toBe('May be stored')
  })
})

test('ids keep every digit in what the page writes', () => {
  for (const id of [2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n, 7n]) {
    const plant = { id, name: 'Fern "the \\ second" 🌱', tag: '' }
    expect(readPlant(writePlantInLines(plant))).toEqual(plant)
    expect(writePlantInLines(plant)).toContain(`"id": ${id},`)
  }
  expect(readPlant('{"id":9223372036854775808,"name":"Fern"}')).toBeUndefined()
  expect(readPlant('no JSON')).toBeUndefined()
})

test('chosen ids are int64 and not negative, and differ', () => {
  const ids = Array.from({ length: 1_000 }, chooseId)
  expect(ids.every((id) => id >= 0n && id < 2n ** 63n)).toBe(true)
  expect(new Set(ids).size).toBe(1_000)
  expect(ids.some((id) => id > 2n ** 62n)).toBe(true)
})

test('a lesson changes only what it is about', () => {
  const request = { body: '{"id":1,"name":"Moss"}', authorization: 'Bearer secret' }
  const stored = { id: 2n ** 60n + 1n, name: 'Fern', tag: 'indoor' }
  const made = Object.fromEntries(
    lessons.map((lesson) => [lesson.id, lesson.make({ request, stored })]),
  )
  expect(readPlant(made.again?.body ?? '')).toEqual(stored)
  expect(readPlant(made.other?.body ?? '')).toMatchObject({ id: stored.id, tag: stored.tag })
  expect(readPlant(made.other?.body ?? '')?.name).not.toBe(stored.name)
  expect(made['no-token']).toEqual({ body: request.body })
  expect(made['wrong-token']?.body).toBe(request.body)
  expect(made['wrong-token']?.authorization).not.toContain('secret')
  for (const id of ['again', 'other', 'largest', 'beyond']) {
    expect(made[id]?.authorization).toBe(request.authorization)
  }
})
