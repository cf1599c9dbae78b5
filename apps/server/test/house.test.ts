import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const SOURCES = join(import.meta.dirname, '../src')

/**
 * The house from the roof to the ground: a file or folder imports only what stands below it. A path
 * inside a folder that has a line of its own does not belong to the line of the folder.
 */
const HOUSE = [
  'main.ts',
  'run.ts',
  'commands/doctor/',
  'commands/load/',
  'commands/token/',
  'commands/',
  'server.ts',
  'operations/',
  'service.ts',
  'app.ts',
  'plants.ts',
  'config.ts',
  'contradictions.ts',
  'settings.ts',
  'operations/traces/',
  'limits/',
  'docs/',
  'auth/',
  'setting-schemas.ts',
  'http/',
  'plant-files/',
  'store/open.ts',
  'store/snapshot.ts',
  'store/sqlite/',
  'store/postgres/',
  'store/',
  'user-name.ts',
  'printable.ts',
  'nursery.ts',
  'without-proto.ts',
]

/** What still climbs; a line that is no longer needed has to go. */
const CLIMBING = [
  'auth/bearer.ts imports limits/failed-credentials.ts',
  'auth/open-authenticate.ts imports config.ts',
  'auth/open-authenticate.ts imports settings.ts',
  'http/answer.ts imports auth/without-credentials.ts',
  'http/pipeline.ts imports limits/tell-later.ts',
  'store/sqlite/schema.ts imports auth/display-name.ts',
]

/** What in the store still names a setting or a flag; likewise. */
const NAMING = [
  'store/postgres/examine.ts',
  'store/postgres/pool.ts',
  'store/postgres/unusable.ts',
  'store/sqlite/examine-folder.ts',
  'store/sqlite/inspect.ts',
  'store/sqlite/real-path.ts',
  'store/sqlite/restore.ts',
  'store/sqlite/sync-files.ts',
  'store/sqlite/unopenable.ts',
]

const files = globSync('**/*.ts', { cwd: SOURCES }).toSorted()

function read(file: string): string {
  return readFileSync(join(SOURCES, file), 'utf8')
}

/** The longest line of the house that holds a file. */
function lineOf(file: string): string | undefined {
  const lines = HOUSE.filter(
    (line) => file === line || (line.endsWith('/') && file.startsWith(line)),
  )
  return lines.toSorted((one, other) => other.length - one.length)[0]
}

function importsOf(file: string): string[] {
  const paths = read(file).matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g)
  return Array.from(paths, ([, path = '']) => join(file, '..', path))
}

function climbs(file: string, imported: string): boolean {
  return HOUSE.indexOf(lineOf(file) ?? '') > HOUSE.indexOf(lineOf(imported) ?? '')
}

test('every file has a place in the house, and every place has a file', () => {
  expect(files.filter((file) => lineOf(file) === undefined)).toEqual([])
  expect(HOUSE.filter((line) => !files.some((file) => lineOf(file) === line))).toEqual([])
})

test('no file imports what stands above it', () => {
  const upward = files.flatMap((file) =>
    importsOf(file)
      .filter((imported) => climbs(file, imported))
      .map((imported) => `${file} imports ${imported}`),
  )
  expect(upward).toEqual(CLIMBING)
})

test('the store names no environment variable and no flag', () => {
  const named = files.filter(
    (file) => file.startsWith('store/') && /PLANT_STORE_|[\s'"`]--[a-z]/.test(read(file)),
  )
  expect(named).toEqual(NAMING)
})
