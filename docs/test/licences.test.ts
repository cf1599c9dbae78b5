import { expect, test } from 'vitest'
import { describePackages, findOthers, listRuntimePackages } from '../write-licences.ts'
import { read } from './markdown.ts'

const packages = listRuntimePackages()

test('the list of runtime dependencies is what is installed', () => {
  expect(packages.length).toBeGreaterThan(50)
  expect(packages.map(({ name }) => name)).toContain('uplot')
  expect(read('docs/licences.md')).toBe(describePackages(packages))
})

test('every runtime dependency has a licence that asks for nothing but its own text', () => {
  expect(findOthers(packages)).toEqual([])
  const foreign = { name: 'foreign', version: '1.0.0', licence: 'AGPL-3.0' }
  expect(findOthers([...packages, foreign])).toEqual([foreign])
})
