import { defineConfig } from 'vitest/config'

/** Left out: what tries the same code a thousand times over, and what only the compiler checks. */
const LONG = ['ids', 'leftovers', 'schedules', 'client.types']

export default defineConfig({
  test: { include: ['test/*.test.ts'], exclude: LONG.map((name) => `test/${name}.test.ts`) },
})
