import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const SOURCES = join(import.meta.dirname, '../src')

/** A file imports only what stands behind it in this list, or in its own row. */
const LAYERS = [/^main\.ts$/, /^run\.ts$/, /^commands\//, /^import\//, /^[^/]+\.ts$/]

const layerOf = (file: string) => LAYERS.findIndex((layer) => layer.test(file))

test('every file has a layer, and imports nothing of one above it', () => {
  const files = globSync('**/*.ts', { cwd: SOURCES })
  expect(new Set(files.map(layerOf))).toEqual(new Set(LAYERS.keys()))
  for (const file of files) {
    const text = readFileSync(join(SOURCES, file), 'utf8')
    for (const [, path = ''] of text.matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']+\.ts)'/g)) {
      const layer = layerOf(join(file, '..', path))
      expect(layer, `${file} imports ${path}`).toBeGreaterThanOrEqual(layerOf(file))
    }
  }
})
