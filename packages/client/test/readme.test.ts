import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { DEFAULT_MAX_OUTAGE_MS } from '../src/create-plants.ts'
import { type CreatePlantsOptions, createPlants, type NewPlantInput } from '../src/index.ts'
import { callRules, clientRules } from '../src/options.ts'
import { toSettings } from '../src/settings.ts'

function read(path: string): string {
  return readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
}

/** The rows of each table of the README whose first heading is this, cell by cell. */
function tablesOf(heading: string): string[][][] {
  const tables = read('README.md').matchAll(
    new RegExp(`^\\| ${heading} .*\\n((?:\\|.*\\n)+)`, 'gm'),
  )
  return Array.from(tables, ([, text = '']) =>
    text
      .trim()
      .split('\n')
      .slice(1)
      .map((row) =>
        row
          .split('|')
          .map((cell) => cell.trim())
          .slice(1, -1),
      ),
  )
}

const [clientTable = [], bulkTable = []] = tablesOf('Option')

function defaultsOf(table: readonly string[][]): Record<string, string> {
  const stated = table.map(([name = '', initial = '']) => [name.replace(/`| \*/g, ''), initial])
  return Object.fromEntries(stated)
}

test("the README's options are those of a client, and the starred ones those of a call", () => {
  const names = clientTable.map(([name = '']) => name)
  const starred = names.filter((name) => name.endsWith('*'))
  expect(Object.keys(defaultsOf(clientTable)).toSorted()).toEqual(
    Object.keys(clientRules).toSorted(),
  )
  expect(starred.map((name) => name.replace(/`| \*/g, '')).toSorted()).toEqual(
    Object.keys(callRules)
      .filter((name) => !['signal', 'requestId'].includes(name))
      .toSorted(),
  )
})

test("the README's defaults are those of a client", () => {
  const settings = toSettings({ baseUrl: 'http://127.0.0.1:9', token: 'token' })
  const numbers = Object.entries(defaultsOf(clientTable)).filter(([, stated]) =>
    /^`\d+`$/.test(stated),
  )
  expect(numbers).toHaveLength(4)
  for (const [name, stated] of numbers)
    expect({ [name]: `\`${Reflect.get(settings, name)}\`` }).toEqual({ [name]: stated })
})

/** How many plants of a source without end are sent before one is answered. */
async function sentAtOnce(options: CreatePlantsOptions): Promise<number> {
  let sent = 0
  function* source(): Generator<NewPlantInput> {
    for (let id = 0; ; id++) yield { id, name: 'Fern' }
  }
  const tryCreatePlant = () => {
    sent++
    return new Promise<never>(() => {})
  }
  void createPlants({ tryCreatePlant, checkToken: tryCreatePlant }, source(), options).next()
  for (let before = -1; before !== sent; ) {
    before = sent
    await new Promise(setImmediate)
  }
  return sent
}

test("the README's defaults are those of many plants", async () => {
  const { concurrency, ...others } = defaultsOf(bulkTable)
  expect(others).toEqual({ maxOutageMs: `\`${DEFAULT_MAX_OUTAGE_MS}\``, onProgress: 'none' })
  expect(concurrency).toBe(`\`${await sentAtOnce({})}\``)
  expect(await sentAtOnce({ concurrency: 3 })).toBe(3)
})

test("the README's table of failures has every code once", () => {
  const stated = tablesOf('`code`')
    .flat()
    .flatMap(([codes = '']) => codes.match(/\w+/g) ?? [])
  const [types = ''] = read('src/errors.ts').split('/**\n * Whether the plant')
  const codes = types.match(/(?<=')\w+(?=')/g) ?? []
  expect(codes).toHaveLength(22)
  expect(stated.toSorted()).toEqual(codes.toSorted())
})
