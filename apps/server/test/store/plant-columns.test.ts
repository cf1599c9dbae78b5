import { NewPlant } from '@plant-store/contract'
import { expect, test } from 'vitest'
import { fromRow, hasSameContent, plantFields, toRow } from '../../src/store/plant-columns.ts'

test('there is a column for each field of the contract, the id first', () => {
  expect(plantFields).toEqual(Object.keys(NewPlant.shape))
  expect(plantFields[0]).toBe('id')
})

test('a plant is the same as a row, and what is absent is neither empty nor the word null', () => {
  for (const plant of [
    { id: -(2n ** 63n), name: 'Fern', tag: 'indoor' },
    { id: 1n, name: '', tag: '' },
    { id: 2n, name: 'null' },
  ]) {
    const row = Object.fromEntries(toRow(plant).map((value, index) => [plantFields[index], value]))
    expect(fromRow(row)).toStrictEqual(plant)
  }
  expect(hasSameContent({ id: 1n, name: 'a' }, { id: 1n, name: 'a', tag: undefined })).toBe(true)
  expect(hasSameContent({ id: 1n, name: 'a' }, { id: 1n, name: 'a', tag: '' })).toBe(false)
})
