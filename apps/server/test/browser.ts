import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { launchChromium } from '../../../packages/client/runtimes/chromium.ts'

/** The network is closed but for the server under test. */
const CLOSED_NETWORK = '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'

/** Chromium itself says so of each response from 400 on, and of none. */
const REFUSAL = /^Failed to load resource: (the server responded with a status of [45]|net::)/

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const DESKTOP = { width: 1280, height: 900 }

/** What a page must fit. */
export const SCREENS = (['light', 'dark'] as const).flatMap((colorScheme) => [
  { name: `desktop-${colorScheme}`, viewport: DESKTOP, colorScheme },
  { name: `phone-${colorScheme}`, viewport: { width: 390, height: 844 }, colorScheme },
])

/** A browser for the tests of a file. */
export function useBrowser() {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchChromium(CLOSED_NETWORK)
  })
  afterAll(() => browser?.close())
  return {
    /** Whatever the page complains about, asks elsewhere, keeps, or its policy refuses fails the test. */
    async open(url: string, options: BrowserContextOptions = {}): Promise<Page> {
      const context = await browser.newContext({ viewport: DESKTOP, ...options })
      context.setDefaultTimeout(120_000)
      const page = await context.newPage()
      const complaints: string[] = []
      page.on('request', (request) => {
        if (new URL(request.url()).origin !== new URL(url).origin) complaints.push(request.url())
      })
      page.on('pageerror', (error) => complaints.push(error.message))
      page.on('console', (message) => {
        if (!REFUSAL.test(message.text())) complaints.push(message.text())
      })
      onTestFinished(async () => {
        const state = await context.storageState()
        await context.close()
        expect(complaints).toEqual([])
        expect(state).toEqual({ cookies: [], origins: [] })
      })
      await page.goto(url)
      return page
    },
  }
}

/** Keeps a picture for people, and fails where axe-core has something against the page. */
export async function expectWellMade(page: Page, name: string): Promise<void> {
  const folder = join(import.meta.dirname, '../screenshots')
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
  // Past the policy of the page.
  await page.evaluate(AXE)
  const found = `axe.run().then(({ violations }) =>
    violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))`
  expect(await page.evaluate(found)).toEqual([])
}
