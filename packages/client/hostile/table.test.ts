import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { pathOf } from './bundle.ts'
import { cases } from './cases.ts'
import { BROWSER_TITLE } from './run-in-browser.ts'
import { findRuntimes } from './runtimes.ts'
import { type Column, claims, formatTable, readCells, readClaims } from './table.ts'

const committed = readFileSync(pathOf('results.md'), 'utf8')

const titles = [...findRuntimes().map(({ title }) => title), BROWSER_TITLE]

test('no two cases make the same claim, and fifteen are those of the comparison', () => {
  expect(new Set(claims).size).toBe(claims.length)
  expect(cases.filter(({ isClassic }) => isClassic)).toHaveLength(15)
})

test('the committed table has every claim, every runtime, and no claim that fails', () => {
  expect(readClaims(committed)).toStrictEqual(claims)
  for (const title of titles) expect(readCells(committed, title), title).toBeDefined()
  expect(
    committed.split('\n').filter((line) => line.startsWith('|') && line.includes('✗')),
  ).toStrictEqual([])
})

test('the committed table is what its results make, to the byte', () => {
  const kinds = new Map(findRuntimes().map(({ title, kind }) => [title, kind]))
  const columns = titles.map((title): Column => {
    const cells = readCells(committed, title) ?? []
    const results = claims.flatMap((claim, index) =>
      cells[index] === '–' ? [] : [{ claim, holds: cells[index]?.startsWith('✓') ?? false, ms: 0 }],
    )
    return { title, kind: kinds.get(title) ?? 'browser', results }
  })
  expect(formatTable(columns)).toBe(committed)
})
