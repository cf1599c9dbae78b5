import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { launchChromium, needsChromium } from '../../../../packages/client/runtimes/chromium.ts'
import { findFreePort } from '../free-port.ts'
import { plantText, post, type ServerProcess } from '../process/server-process.ts'
import { startScrapedServer } from './scraped-server.ts'

/** A browser and servers on a machine that may have other work. */
const TIMEOUT_MS = 120_000

vi.setConfig({ testTimeout: TIMEOUT_MS, hookTimeout: TIMEOUT_MS })

/** The network is closed but for the server under test. */
const CLOSED_NETWORK = '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'

const SCREENSHOTS = join(import.meta.dirname, '../../screenshots')

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const DESKTOP = { width: 1280, height: 900 }
const PHONE = { width: 390, height: 844 }

/** Chromium itself says so of each response from 400 on. */
const REFUSAL = /^Failed to load resource/

let browser: Browser

/** Opens the page as a person does, and notes each request to another origin and each error. */
async function openPage(
  { operationsUrl }: Pick<ServerProcess, 'operationsUrl'>,
  options: BrowserContextOptions = {},
): Promise<{ readonly page: Page; readonly complaints: readonly string[] }> {
  const context = await browser.newContext({ viewport: DESKTOP, ...options })
  onTestFinished(() => context.close())
  context.setDefaultTimeout(TIMEOUT_MS)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== operationsUrl) complaints.push(request.url())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    if (!REFUSAL.test(message.text())) complaints.push(message.text())
  })
  await page.goto(operationsUrl)
  return { page, complaints }
}

async function keepScreenshot(page: Page, name: string): Promise<void> {
  mkdirSync(SCREENSHOTS, { recursive: true })
  await page.screenshot({ path: join(SCREENSHOTS, `overview-${name}.png`), fullPage: true })
}

function untilState(page: Page, word: string | RegExp): Promise<void> {
  return page.getByRole('status').filter({ hasText: word }).waitFor()
}

/** The line of words of each plot, by its title. */
async function readPlots(page: Page): Promise<Record<string, string>> {
  const titles = await page.getByRole('article').getByRole('heading').allTextContents()
  const values = await page.getByRole('article').locator('p:not(.note)').allInnerTexts()
  return Object.fromEntries(titles.map((title, index) => [title, values[index] ?? '']))
}

/** What axe-core has against the page, by rule. It runs past the page's policy. */
async function askAxe(page: Page): Promise<unknown> {
  await page.evaluate(AXE)
  return page.evaluate(`axe.run().then(({ violations }) =>
    violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))`)
}

describe('the page in Chromium, the network closed', needsChromium, () => {
  beforeAll(async () => {
    browser = await launchChromium(CLOSED_NETWORK)
  })
  afterAll(() => browser?.close())

  test.each([
    ['desktop-light', { viewport: DESKTOP, colorScheme: 'light' }],
    ['desktop-dark', { viewport: DESKTOP, colorScheme: 'dark' }],
    ['phone-light', { viewport: PHONE, colorScheme: 'light' }],
    ['phone-dark', { viewport: PHONE, colorScheme: 'dark' }],
  ] as const)('is whole at rest and under load: %s', async (name, options) => {
    const server = await startScrapedServer({ PLANT_STORE_REQUEST_LIMIT: '99' })
    const { page, complaints } = await openPage(server, options)
    await untilState(page, /^Ready$/)
    await expect.poll(async () => (await readPlots(page)).Load).toMatch(/wait 0$/)
    expect(await readPlots(page)).toEqual({
      'Plants stored': 'stored 0/s',
      'Time to the response 200': 'no responses 200 now',
      'Refusals and errors': '4xx 0/s 5xx 0/s',
      Load: expect.stringMatching(/^connections \d plants that wait 0$/),
    })
    await keepScreenshot(page, `${name}-idle`)
    const text = await page.locator('body').textContent()
    expect(await page.locator('#plants').textContent()).toBe('0 plants')
    expect(text).toContain('at most 10,000 connections; 256 plants may always wait')
    expect(text).not.toMatch(/NaN|undefined|null|Infinity|—/)
    expect(text).toContain('PLANT_STORE_REQUEST_LIMIT=99')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(options.viewport.width)

    const until = performance.now() + 9_000
    const send = async (first: number) => {
      let stored = 0
      for (let id = first; performance.now() < until; id += 4) {
        const response = await post(server, { body: plantText(id) })
        await response.text()
        if (response.ok) stored++
      }
      return stored
    }
    const sent = Promise.all([1, 2, 3, 4].map(send))
    await expect
      .poll(() => readPlots(page))
      .toMatchObject({
        'Plants stored': expect.stringMatching(/^stored [1-9][\d,.]*\/s$/),
        'Time to the response 200': expect.stringMatching(/^p50 [\d.]+ ms p99 [\d.]+ ms$/),
      })
    const stored = (await sent).reduce((sum, count) => sum + count)
    const words = `${stored.toLocaleString('en-US')} plants`
    await expect.poll(() => page.locator('#plants').textContent()).toBe(words)
    await keepScreenshot(page, `${name}-load`)
    expect(await askAxe(page)).toEqual([])
    expect(complaints).toEqual([])
    expect(await page.context().storageState()).toEqual({ cookies: [], origins: [] })
  })

  test('says that the server is not ready, with the reason, until it is', async () => {
    const server = await startScrapedServer()
    const other = new DatabaseSync(join(server.folder, 'plants.db'), { timeout: 10_000 })
    onTestFinished(() => {
      if (other.isOpen) other.close()
    })
    other.exec('BEGIN IMMEDIATE')
    expect((await post(server)).status).toBe(503)
    const { page } = await openPage(server)
    await untilState(page, /^Not ready$/)
    const { message } = (await (await fetch(`${server.operationsUrl}/readyz`)).json()) as Error
    expect(await page.locator('#reason').textContent()).toBe(message)
    await keepScreenshot(page, 'not-ready')
    expect(await askAxe(page)).toEqual([])
    other.close()
    await untilState(page, /^Ready$/)
  })

  test('says that the server is gone until it is back', async () => {
    const environment = { PLANT_STORE_OPERATIONS_LISTEN: `127.0.0.1:${await findFreePort()}` }
    const server = await startScrapedServer(environment)
    const { page } = await openPage(server)
    await untilState(page, /^Ready$/)
    await server.end('SIGKILL')
    await untilState(page, /^No response from the server$/)
    await keepScreenshot(page, 'gone')
    expect(await askAxe(page)).toEqual([])
    await startScrapedServer(environment)
    await untilState(page, /^Ready$/)
  })
})
