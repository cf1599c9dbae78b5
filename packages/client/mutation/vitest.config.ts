import { defineConfig } from 'vitest/config'

/** Left out: what tries the same code a thousand times over, and what reads it as text. */
const LEFT_OUT = ['schedules', 'readme']

export default defineConfig({
  test: { include: ['test/*.test.ts'], exclude: LEFT_OUT.map((name) => `test/${name}.test.ts`) },
})
