import { expect, test } from 'vitest'
import { needsChromium } from './chromium.ts'
import { runInBrowser } from './run-in-browser.ts'

test('every claim holds in a page of another origin', needsChromium, async () => {
  const results = await runInBrowser()
  expect(results.filter(({ holds }) => !holds)).toStrictEqual([])
})
