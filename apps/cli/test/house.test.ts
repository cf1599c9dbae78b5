import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const SOURCES = join(import.meta.dirname, '../src')

/** From the roof to the ground: a file or folder imports only what stands below it. */
const HOUSE = ['main.ts', 'run.ts', 'commands/', 'commands/completion/', 'import/', '']

const files = globSync('**/*.ts', { cwd: SOURCES }).toSorted()

/** The longest line of the house that a path begins with. */
function lineOf(file: string): number {
  const lines = HOUSE.filter((line) => (line === '' ? !file.includes('/') : file.startsWith(line)))
  return HOUSE.indexOf(lines.toSorted((one, other) => other.length - one.length)[0] ?? 'none')
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(SOURCES, file), 'utf8')
  const paths = text.matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g)
  return Array.from(paths, ([, path = '']) => join(file, '..', path))
}

test('every file has a place in the house, and imports nothing that stands above it', () => {
  expect(new Set(files.map(lineOf))).toEqual(new Set(HOUSE.keys()))
  const upward = files.flatMap((file) =>
    importsOf(file)
      .filter((imported) => lineOf(file) > lineOf(imported))
      .map((imported) => `${file} imports ${imported}`),
  )
  expect(upward).toEqual([])
})
