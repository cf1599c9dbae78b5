import { expect, test } from 'vitest'
import { RowWindow } from '../../src/import/row-window.ts'

const recordOn = (line: number) => ({
  line,
  lastLine: line,
  source: Buffer.from('1,Fern'),
  isCut: false,
  plant: { id: BigInt(line), name: 'Fern' },
})

test('a row is taken only once every row before it has its result', () => {
  const window = new RowWindow()
  const [first, second, third] = [1, 2, 3].map((line) => window.add(recordOn(line)))
  if (!first || !second || !third) throw new Error('no rows')
  window.finish(second, { type: 'stored' })
  expect([window.finished, window.take()]).toEqual([0, []])
  window.finish(first, { type: 'alreadyThere' })
  expect(window.take().map(({ record }) => record.line)).toEqual([1, 2])
  expect([window.size, window.bytes]).toEqual([1, 6])
  window.finish(third, { type: 'stored' })
  expect(window.take()).toHaveLength(1)
  expect([window.size, window.bytes]).toEqual([0, 0])
})
