import { defineConfig } from 'vitest/config'
import { contractAsBuilt } from '../contract/as-built.ts'

/** Left out: what tries the same code a thousand times over, and what reads it as text. */
const LEFT_OUT = ['schedules', 'readme', 'contract-schemas']

export default defineConfig({
  ...contractAsBuilt,
  test: { include: ['test/*.test.ts'], exclude: LEFT_OUT.map((name) => `test/${name}.test.ts`) },
})
