import { bundle } from './bundle.ts'
import { launchChromium } from './chromium.ts'
import { startHostileServer } from './hostile-server.ts'
import type { CaseResult } from './run-cases.ts'

const PAGE = '<!doctype html><script type="module" src="/run-cases.js"></script>'

/** Runs every case in a page, whose origin is another than that of the server under test. */
export async function runInBrowser(): Promise<CaseResult[]> {
  const server = await startHostileServer({
    'run-cases.html': { type: 'text/html', content: PAGE },
    'run-cases.js': {
      type: 'text/javascript',
      content: await bundle('browser-entry.ts', 'browser'),
    },
  })
  const browser = await launchChromium()
  try {
    const page = await browser.newPage()
    await page.goto(`${server.controlUrl}/run-cases.html`, { waitUntil: 'load' })
    return await page.evaluate(() => globalThis.caseResults)
  } finally {
    await browser.close()
    await server.close()
  }
}
