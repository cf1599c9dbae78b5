import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { INT64_MAX } from '@plant-store/contract'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launchChromium, needsChromium } from '../../../../packages/client/hostile/chromium.ts'
import { useWireServer } from '../wire/harness.ts'
import { token } from '../wire/request.ts'

/** A browser and a server on a machine that may have other work. */
const TIMEOUT_MS = 120_000

/** The network is closed but for the server under test. */
const CLOSED_NETWORK = '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'

const SCREENSHOTS = join(import.meta.dirname, '../../screenshots')

const viewports = {
  desktop: { width: 1280, height: 900 },
  phone: { width: 390, height: 844 },
} as const

/** Notes each request to another origin, each error in the console, and what the policy forbade. */
async function watch(page: Page, origin: string) {
  const complaints: Record<'requests' | 'messages', string[]> = { requests: [], messages: [] }
  page.on('request', (request) => {
    const { protocol, origin: asked } = new URL(request.url())
    if (asked !== origin && protocol !== 'data:') complaints.requests.push(request.url())
  })
  page.on('pageerror', (error) => complaints.messages.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.messages.push(message.text())
  })
  // As text, because the types of a browser are not those of the tests.
  await page.addInitScript(`
    globalThis.policyViolations = []
    document.addEventListener('securitypolicyviolation', (event) => {
      globalThis.policyViolations.push(event.violatedDirective + ' ' + event.blockedURI)
    })`)
  return complaints
}

/** Keeps how a page looks, for people. */
async function keepScreenshot(page: Page, name: string): Promise<void> {
  mkdirSync(SCREENSHOTS, { recursive: true })
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) })
}

const server = useWireServer()

async function authorize(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Authorize' }).click()
  const dialog = page.locator('.modal-ux')
  await dialog.getByRole('textbox').fill(token.text)
  await dialog.getByRole('button', { name: 'Apply credentials' }).click()
  await dialog.getByRole('button', { name: 'Close' }).last().click()
}

/** Sends a body as a reader of the page would, and gives the status that the page then shows. */
async function execute(page: Page, body: string): Promise<string | null> {
  await page.locator('textarea.body-param__text').fill(body)
  const answered = page.waitForResponse((response) => response.request().method() === 'POST')
  await page.getByRole('button', { name: 'Execute' }).click()
  const status = (await answered).status()
  const shown = page.locator('.live-responses-table .response-col_status', { hasText: `${status}` })
  return shown.first().textContent()
}

describe('the page in Chromium, the network closed', needsChromium, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchChromium(CLOSED_NETWORK)
  }, TIMEOUT_MS)
  afterAll(() => browser?.close())

  test.each([
    ['desktop', 'light'],
    ['desktop', 'dark'],
    ['phone', 'light'],
    ['phone', 'dark'],
  ] as const)(
    'on a %s in %s creates the plant with the largest id, and shows a refusal',
    {
      timeout: TIMEOUT_MS,
    },
    async (device, colorScheme) => {
      const origin = `http://127.0.0.1:${server.port}`
      const context = await browser.newContext({ viewport: viewports[device], colorScheme })
      context.setDefaultTimeout(TIMEOUT_MS)
      const page = await context.newPage()
      const complaints = await watch(page, origin)
      await page.goto(`${origin}/docs`)
      await page.getByRole('button', { name: 'Execute' }).waitFor()
      await keepScreenshot(page, `${device}-${colorScheme}`)
      const { width } = viewports[device]
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)

      await authorize(page)
      const created = await execute(page, `{"id":${INT64_MAX},"name":"Monstera","tag":"indoor"}`)
      expect(created).toContain('200')
      expect(await server.database.readPlants()).toStrictEqual([
        { id: INT64_MAX, name: 'Monstera', tag: 'indoor' },
      ])
      await page.locator('.live-responses-table').scrollIntoViewIfNeeded()
      await keepScreenshot(page, `${device}-${colorScheme}-created`)

      expect(complaints).toEqual({ requests: [], messages: [] })
      expect(await execute(page, `{"id":${INT64_MAX},"name":"Fern"}`)).toContain('400')
      expect(await page.locator('.live-responses-table').textContent()).toContain('40003')
      expect(complaints.requests).toEqual([])
      expect(await context.storageState()).toEqual({ cookies: [], origins: [] })
      expect(await page.evaluate('sessionStorage.length')).toBe(0)
      expect(await page.evaluate('globalThis.policyViolations')).toEqual([])
      await context.close()
    },
  )
})
