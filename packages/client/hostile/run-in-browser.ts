import { chromium } from 'playwright-core'
import { bundle } from './bundle.ts'
import { startHostileServer } from './hostile-server.ts'
import type { CaseResult } from './run-cases.ts'

/** Where Debian puts its browser. */
export const CHROMIUM = '/usr/bin/chromium'

export const BROWSER_TITLE = 'Chromium'

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

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
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS })
  try {
    const page = await browser.newPage()
    await page.goto(`${server.controlUrl}/run-cases.html`, { waitUntil: 'load' })
    return await page.evaluate(() => globalThis.hostileResults)
  } finally {
    await browser.close()
    await server.close()
  }
}
