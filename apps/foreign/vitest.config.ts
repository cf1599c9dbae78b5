import { defineConfig } from 'vitest/config'

/** Each first use of a tool reads hundreds of files, on a machine that may have other work. */
const PATIENCE_MS = 120_000

export default defineConfig({ test: { testTimeout: PATIENCE_MS, hookTimeout: PATIENCE_MS } })
