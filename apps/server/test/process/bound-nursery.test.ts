import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

test('a nursery grows between turns, and no further than to its bound', () => {
  const program = join(import.meta.dirname, 'grow-nursery.ts')
  const printed = execFileSync(process.execPath, [program], { encoding: 'utf8' })
  const [afterLongTurn = 0, atLast = 0] = printed.split('\n').map(Number)
  expect(afterLongTurn).toBeLessThan(4)
  expect(atLast).toBeGreaterThanOrEqual(4)
  // A page or two more while they are collected; without a bound it is 64.
  expect(atLast).toBeLessThanOrEqual(8)
})
