import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { pathOf } from './bundle.ts'
import { needsChromium } from './chromium.ts'
import { BROWSER_TITLE, runInBrowser } from './run-in-browser.ts'
import { cellsOf, readCells } from './table.ts'

const committed = readFileSync(pathOf('results.md'), 'utf8')

test(
  'every claim holds in a page of another origin, and the table says so',
  needsChromium,
  async () => {
    const results = await runInBrowser()
    expect(results.filter(({ holds }) => !holds)).toStrictEqual([])
    const column = { title: BROWSER_TITLE, kind: 'browser', results } as const
    expect(cellsOf(column)).toStrictEqual(readCells(committed, BROWSER_TITLE))
  },
)
