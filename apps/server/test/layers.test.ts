import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const SOURCES = join(import.meta.dirname, '../src')

/**
 * The layers from top to bottom, as ARCHITECTURE.md lists them: a file or folder imports only what
 * stands below it. A path inside a folder that has a row of its own does not belong to the row of the
 * folder.
 */
const architecture = readFileSync(join(import.meta.dirname, '../../../ARCHITECTURE.md'), 'utf8')
const [, table = ''] = /^\| Folder .*\n\|[ -|]+\n((?:\|.*\n)+)/m.exec(architecture) ?? []
const LAYERS = table.split('\n').flatMap((row) => {
  const [, names = ''] = row.split('|')
  return Array.from(names.matchAll(/`([^`]+)`/g), ([, name = '']) => name)
})

const files = globSync('**/*.ts', { cwd: SOURCES }).toSorted()

function read(file: string): string {
  return readFileSync(join(SOURCES, file), 'utf8')
}

/** The longest line of the layers that holds a file. */
function lineOf(file: string): string | undefined {
  const lines = LAYERS.filter(
    (line) => file === line || (line.endsWith('/') && file.startsWith(line)),
  )
  return lines.toSorted((one, other) => other.length - one.length)[0]
}

function importsOf(file: string): string[] {
  const paths = read(file).matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g)
  return Array.from(paths, ([, path = '']) => join(file, '..', path))
}

function climbs(file: string, imported: string): boolean {
  return LAYERS.indexOf(lineOf(file) ?? '') > LAYERS.indexOf(lineOf(imported) ?? '')
}

test('every file has a layer, and every layer has a file', () => {
  expect(LAYERS.length).toBeGreaterThan(10)
  expect(files.filter((file) => lineOf(file) === undefined)).toEqual([])
  expect(LAYERS.filter((line) => !files.some((file) => lineOf(file) === line))).toEqual([])
})

test('no file imports what stands above it', () => {
  const upward = files.flatMap((file) =>
    importsOf(file)
      .filter((imported) => climbs(file, imported))
      .map((imported) => `${file} imports ${imported}`),
  )
  expect(upward).toEqual([])
})
