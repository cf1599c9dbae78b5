import { defineConfig } from 'vitest/config'

/** Left out: what tries the same code a thousand times over, and what reads it as text or by its types. */
const LEFT_OUT = ['ids', 'leftovers', 'schedules', 'readme', 'client.types']

export default defineConfig({
  test: { include: ['test/*.test.ts'], exclude: LEFT_OUT.map((name) => `test/${name}.test.ts`) },
})
