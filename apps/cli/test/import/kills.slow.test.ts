import { expect, test } from 'vitest'
import { killImports } from '../../soak/kill-imports.ts'

/** `pnpm exec node soak/kills.ts` does the same with 200,000 rows and a hundred kills. */
const ROWS = 40_000

test('an import that is killed again and again stores or rejects each row once, and sends few of them again', async () => {
  const { kills, wrong, exitCode, sentAgain } = await killImports({
    rows: ROWS,
    kills: 20,
    longestMs: 2_000,
  })
  expect({ wrong, exitCode }).toEqual({ wrong: [], exitCode: 3 })
  expect(kills).toBeGreaterThanOrEqual(5)
  expect(sentAgain).toBeLessThanOrEqual(kills * 4_000)
})

test('an import whose server is killed again and again stores or rejects each row once', async () => {
  const { kills, wrong, exitCode } = await killImports({
    rows: ROWS,
    kills: 8,
    longestMs: 4_000,
    killsServer: true,
  })
  expect({ wrong, exitCode }).toEqual({ wrong: [], exitCode: 3 })
  expect(kills).toBeGreaterThanOrEqual(3)
})
