import { expect, test } from 'vitest'
import { bundle } from './bundle.ts'
import { launchChromium, needsChromium } from './chromium.ts'
import { startHostileServer } from './hostile-server.ts'

const PAGE = '<!doctype html><script type="module" src="/run-cases.js"></script>'

test('every claim holds in a page of another origin than the server', needsChromium, async () => {
  const content = await bundle('browser-entry.ts', 'browser')
  const server = await startHostileServer({
    'run-cases.html': { type: 'text/html', content: PAGE },
    'run-cases.js': { type: 'text/javascript', content },
  })
  const browser = await launchChromium()
  try {
    const page = await browser.newPage()
    await page.goto(`${server.controlUrl}/run-cases.html`, { waitUntil: 'load' })
    const results = await page.evaluate(() => globalThis.caseResults)
    expect(results.filter(({ holds }) => !holds)).toStrictEqual([])
  } finally {
    await browser.close()
    await server.close()
  }
})
