import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const SOURCES = join(import.meta.dirname, '../src')

/** A file or folder imports only what stands behind it in this list, or its own. */
const LAYERS = ['main.ts', 'run.ts', 'commands/', 'import/', '']

const files = globSync('**/*.ts', { cwd: SOURCES }).toSorted()

/** The layer of a path. */
function layerOf(file: string): number {
  const layers = LAYERS.filter((layer) =>
    layer === '' ? !file.includes('/') : file.startsWith(layer),
  )
  return LAYERS.indexOf(layers.toSorted((one, other) => other.length - one.length)[0] ?? 'none')
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(SOURCES, file), 'utf8')
  const paths = text.matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g)
  return Array.from(paths, ([, path = '']) => join(file, '..', path))
}

test('every file has a layer, and imports nothing of one above it', () => {
  expect(new Set(files.map(layerOf))).toEqual(new Set(LAYERS.keys()))
  const upward = files.flatMap((file) =>
    importsOf(file)
      .filter((imported) => layerOf(file) > layerOf(imported))
      .map((imported) => `${file} imports ${imported}`),
  )
  expect(upward).toEqual([])
})
