import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'

/** A browser and a server on a machine that may have other work. */
export const TIMEOUT_MS = 60_000

/** The network is closed but for the server under test. */
export const CLOSED_NETWORK = '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Chromium itself says so of each answer from 400 on. */
const REFUSAL = /^Failed to load resource: the server responded with a status of [45]\d\d/

/** The page at an address, in a context of its own that ends with the test. */
export interface OpenedPage {
  readonly page: Page
  /** Fails if the page asked another place, complained, kept something, or met its policy. */
  expectClean(): Promise<void>
}

/** Opens a page of the server as a person does. */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<OpenedPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
  onTestFinished(() => context.close())
  context.setDefaultTimeout(TIMEOUT_MS)
  const page = await context.newPage()
  const { origin } = new URL(url)
  const complaints: string[] = []
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) complaints.push(request.url())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    if (!REFUSAL.test(message.text())) complaints.push(message.text())
  })
  // As text, because the types of a browser are not those of the tests.
  await page.addInitScript(`
    globalThis.policyViolations = []
    document.addEventListener('securitypolicyviolation', (event) => {
      globalThis.policyViolations.push(event.violatedDirective + ' ' + event.blockedURI)
    })`)
  await page.goto(url)
  if (options.javaScriptEnabled !== false) await page.locator('#send:enabled').waitFor()

  return {
    page,
    async expectClean() {
      expect(complaints).toEqual([])
      expect(await page.evaluate('globalThis.policyViolations')).toEqual([])
      expect(await context.storageState()).toEqual({ cookies: [], origins: [] })
      expect(await page.evaluate('[sessionStorage.length, localStorage.length]')).toEqual([0, 0])
    },
  }
}

/** Presses a button and waits for the answer to the request that it sends. */
export async function press(page: Page, button: string): Promise<void> {
  await Promise.all([
    page.waitForResponse((response) => response.request().method() === 'POST'),
    page.getByRole('button', { name: button, exact: true }).click(),
  ])
  await page.locator('#answer[data-verdict]:not([aria-busy])').waitFor()
}

/** What the answer says, by its parts; '' for a part that is not shown. */
export async function readAnswer(page: Page) {
  const read = async (id: string) => {
    const part = page.locator(id)
    return (await part.isVisible()) ? ((await part.textContent()) ?? '') : ''
  }
  return {
    verdict: await read('#verdict'),
    words: await read('#words'),
    learned: await read('#learned'),
    facts: await read('#facts'),
    reply: await read('#reply'),
    sent: (await page.locator('#sent').textContent()) ?? '',
  }
}

/** What axe-core has against the page, by rule. It runs past the page's policy. */
export async function askAxe(page: Page): Promise<unknown> {
  await page.evaluate(AXE)
  return page.evaluate(`axe.run().then(({ violations }) =>
    violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))`)
}
