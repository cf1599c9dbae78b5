import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { optionTable } from '../src/options.ts'

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

const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1)

test.each([
  ['a client', 'client', 0],
  ['many plants', 'bulk', 1],
] as const)("the README's options are those of %s, with their defaults", (_what, place, table) => {
  const stated = (tablesOf('Option')[table] ?? []).map(([name = '', initial = '']) => {
    const isOfCall = name.endsWith('*')
    return { name: name.replace(/`| \*/g, ''), isOfCall, initial: /^`\d+`$/.exec(initial)?.[0] }
  })
  const options = Object.entries(optionTable).flatMap(([name, option]) => {
    const at: readonly string[] = option.at
    const isOfCall = at.includes('call')
    const initial = 'initial' in option ? `\`${option.initial}\`` : undefined
    return at.includes(place) && (place === 'client' || !isOfCall)
      ? [{ name, isOfCall, initial }]
      : []
  })
  expect(stated.toSorted(byName)).toEqual(options.toSorted(byName))
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
