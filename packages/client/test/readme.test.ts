import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { rowsOf } from '../../../docs/test/markdown.ts'
import { optionTable } from '../src/options.ts'

/** What begins with a name in the tables of failures and options, and the headings of the latter. */
const rows = rowsOf('packages/client/README.md', /`|Option /)
const firstOption = rows.findIndex(([name]) => name === 'Option')

test("the README's options are those of a client, then those of many plants, with their defaults", () => {
  const stated = rows.slice(firstOption).map(([name, initial = '']) => {
    return [name, /^`\d+`$/.exec(initial)?.[0]]
  })
  const optionsOf = (isWanted: (at: readonly string[]) => boolean) =>
    Object.entries(optionTable)
      .filter(([, { at }]) => isWanted(at))
      .map(([name, option]) => {
        const at: readonly string[] = option.at
        const initial = 'initial' in option ? `\`${option.initial}\`` : undefined
        return [`\`${name}\`${at.includes('call') ? ' *' : ''}`, initial]
      })
  const ofClient = optionsOf((at) => at.includes('client'))
  const ofBulk = optionsOf((at) => at.includes('bulk') && !at.includes('call'))
  const heading = ['Option', undefined]
  expect(stated).toEqual([heading, ...ofClient, heading, ...ofBulk])
})

test("the README's table of failures has every code once", () => {
  const [, ...cells] = rows.slice(0, firstOption).map(([codes = '']) => codes)
  const source = readFileSync(new URL('../src/errors.ts', import.meta.url), 'utf8')
  const [types = ''] = source.split('/**\n * Whether the plant')
  const codes = types.match(/(?<=')\w+(?=')/g) ?? []
  expect(codes).toHaveLength(22)
  expect(cells.flatMap((cell) => cell.match(/\w+/g)).toSorted()).toEqual(codes.toSorted())
})
