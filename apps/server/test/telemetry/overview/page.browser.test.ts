import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { launchChromium, needsChromium } from '../../../../../packages/client/runtimes/chromium.ts'
import { PLOTS } from '../../../overview/plots.ts'
import type { OverviewReply } from '../../../src/telemetry/overview/reply.ts'
import { findFreePort } from '../../free-port.ts'
import { startPostgres } from '../../postgres/postgres-server.ts'
import { prepareDatabase, serve } from '../../postgres/served-database.ts'
import { plantText, post, type ServerProcess } from '../../process/server-process.ts'
import { type ScrapedServer, startScrapedServer } from '../scraped-server.ts'

/** A browser and servers on a machine that may have other work. */
const TIMEOUT_MS = 120_000

vi.setConfig({ testTimeout: TIMEOUT_MS, hookTimeout: TIMEOUT_MS })

/** The network is closed but for the server under test. */
const CLOSED_NETWORK = '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'

const SCREENSHOTS = join(import.meta.dirname, '../../../screenshots')

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const viewports = {
  desktop: { width: 1280, height: 900 },
  phone: { width: 390, height: 844 },
} as const

let browser: Browser

/** What happened on a page that never should. */
interface Watched {
  readonly page: Page
  readonly foreign: readonly string[]
  readonly errors: readonly string[]
}

/** Opens the page as a person does, and notes each request to another origin and each error. */
async function openPage(
  { operationsUrl }: Pick<ServerProcess, 'operationsUrl'>,
  options: BrowserContextOptions = {},
): Promise<Watched> {
  const context = await browser.newContext({ viewport: viewports.desktop, ...options })
  onTestFinished(() => context.close())
  context.setDefaultTimeout(TIMEOUT_MS)
  const page = await context.newPage()
  const foreign: string[] = []
  const errors: string[] = []
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== operationsUrl) foreign.push(request.url())
  })
  page.on('pageerror', (error) => errors.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text())
  })
  await page.goto(operationsUrl)
  return { page, foreign, errors }
}

async function keepScreenshot(page: Page, name: string): Promise<void> {
  mkdirSync(SCREENSHOTS, { recursive: true })
  await page.screenshot({ path: join(SCREENSHOTS, `overview-${name}.png`), fullPage: true })
}

function untilState(page: Page, word: string | RegExp): Promise<void> {
  return page.getByRole('status').filter({ hasText: word }).waitFor()
}

function cardOf(page: Page, title: string) {
  return page.getByRole('article').filter({ has: page.getByRole('heading', { name: title }) })
}

/** What axe-core has against the page, by rule. It runs past the page's policy. */
async function askAxe(page: Page): Promise<unknown> {
  await page.evaluate(AXE)
  return page.evaluate(`axe.run().then(({ violations }) =>
    violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))`)
}

/** Lets no commit end until the returned function is called, like another process that writes. */
function holdCommits({ folder }: ScrapedServer): () => void {
  const other = new DatabaseSync(join(folder, 'plants.db'), { timeout: 10_000 })
  other.exec('BEGIN IMMEDIATE')
  return () => {
    if (other.isOpen) other.close()
  }
}

describe('the page in Chromium, the network closed', needsChromium, () => {
  beforeAll(async () => {
    browser = await launchChromium(CLOSED_NETWORK)
  })
  afterAll(() => browser?.close())

  test('at rest it is whole on a desktop and a phone, in light and dark, and axe has nothing against it', async () => {
    const server = await startScrapedServer()
    for (const device of ['desktop', 'phone'] as const) {
      for (const colorScheme of ['light', 'dark'] as const) {
        const viewport = viewports[device]
        const { page, foreign, errors } = await openPage(server, { viewport, colorScheme })
        await untilState(page, /^Ready$/)
        const titles = await page.getByRole('article').getByRole('heading').allTextContents()
        const all = Object.values(PLOTS).flatMap((plots) => plots.map(({ title }) => title))
        expect(titles).toEqual(all.filter((title) => title !== 'PostgreSQL connections'))
        expect(await cardOf(page, 'Memory').locator('.big').textContent()).toMatch(/^\d\S* MB/)
        expect(await page.getByText('plant_store_waiting_plants').count()).toBe(1)
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(viewport.width)
        await keepScreenshot(page, `${device}-${colorScheme}`)
        expect(await askAxe(page)).toEqual([])
        expect({ foreign, errors }).toEqual({ foreign: [], errors: [] })
        expect(await page.context().storageState()).toEqual({ cookies: [], origins: [] })
      }
    }
  })

  test('under load it shows what happens, and every moment of it to the keyboard', async () => {
    const server = await startScrapedServer({ PLANT_STORE_REQUEST_LIMIT: '99' })
    const { page, errors } = await openPage(server, { reducedMotion: 'reduce' })
    let isOver = false
    async function send(first: number): Promise<void> {
      for (let id = first; !isOver; id += 4)
        await (await post(server, { body: plantText(id) })).text()
    }
    const sent = Promise.all([1, 2, 3, 4].map(send))
    const stored = cardOf(page, 'Plants stored').locator('.big b')
    await stored.filter({ hasText: /^[1-9]/ }).waitFor()
    const latency = cardOf(page, 'Time to the reply 200')
    expect(await latency.locator('.big').textContent()).toMatch(/^[\d.]+ (ms|µs|s) p99$/)
    expect(await latency.locator('.words').textContent()).toMatch(/p99 .*; p90 .*; p50 /)
    expect(await page.locator('#state-reason').textContent()).toMatch(/replies a second; 99 of 100/)
    expect(await page.getByRole('cell', { name: 'PLANT_STORE_REQUEST_LIMIT' }).count()).toBe(1)
    await keepScreenshot(page, 'load')

    await page.keyboard.press('Tab')
    await page.keyboard.press('Home')
    const moment = page.getByRole('slider')
    expect(await moment.getAttribute('aria-valuetext')).toMatch(/^At .* ago$/)
    // Before the first two samples there was no rate.
    expect(await stored.textContent()).toBe('—')
    await page.keyboard.press('Escape')
    expect(await moment.getAttribute('aria-valuetext')).toMatch(/^Latest/)
    expect(await stored.textContent()).toMatch(/^[1-9]/)

    const canvas = cardOf(page, 'Plants stored').locator('canvas')
    isOver = true
    await sent
    const light = await canvas.screenshot()
    await page.emulateMedia({ colorScheme: 'dark' })
    await expect.poll(async () => (await canvas.screenshot()).equals(light)).toBe(false)
    const moving = `[...document.querySelectorAll('*')].map((element) => getComputedStyle(element))
      .filter(({ transitionDuration, animationName }) =>
        transitionDuration !== '0s' || animationName !== 'none').length`
    expect(await page.evaluate(moving)).toBe(0)
    expect(await askAxe(page)).toEqual([])
    expect(errors).toEqual([])
  })

  test('not ready comes first, with the reason of the server, and passes by itself', async () => {
    const server = await startScrapedServer()
    const release = holdCommits(server)
    onTestFinished(release)
    expect((await post(server)).status).toBe(503)
    const { page } = await openPage(server)
    await untilState(page, /^Not ready$/)
    const reply = await fetch(`${server.operationsUrl}/overview.json`)
    const { notReady } = (await reply.json()) as OverviewReply
    const reason = await page.locator('#state-reason').textContent()
    expect(notReady).toMatch(/\w+ \w+/)
    expect(reason?.toLowerCase()).toContain(notReady?.toLowerCase())
    expect(reason).toContain('Creates are answered 503')
    expect(await page.getByRole('img').getAttribute('aria-label')).toMatch(/ready in \d+ of \d+/)
    expect(await page.title()).toBe('Not ready – Plant Store')
    await keepScreenshot(page, 'not-ready')
    expect(await askAxe(page)).toEqual([])
    release()
    await untilState(page, /^Ready$|^Ready, but/)
  })

  test('a server that is gone shows as gone, with the time of the last data, until it is back', async () => {
    const environment = { PLANT_STORE_OPERATIONS_LISTEN: `127.0.0.1:${await findFreePort()}` }
    const server = await startScrapedServer(environment)
    const { page } = await openPage(server)
    await untilState(page, /^Ready$/)
    await server.end('SIGKILL')
    await untilState(page, /^No reply from the server$/)
    const reason = page.locator('#state-reason')
    expect(await reason.textContent()).toMatch(/as it was at \d\d:\d\d:\d\d, \d+ seconds? ago/)
    expect(await cardOf(page, 'Memory').locator('.big').textContent()).toMatch(/^\d/)
    await keepScreenshot(page, 'gone')
    expect(await askAxe(page)).toEqual([])
    await startScrapedServer(environment)
    await untilState(page, /^Ready$/)
  })

  test('over PostgreSQL it shows the pool, no password, and why the server is not ready', async () => {
    const postgres = await startPostgres()
    onTestFinished(() => postgres.stop())
    const database = await prepareDatabase(await postgres.createDatabase())
    const url = new URL(database.databaseUrl)
    expect(url.password).not.toBe('')
    const server = await serve(database)
    const { page, foreign } = await openPage(server)
    await untilState(page, /^Ready$/)
    expect(await cardOf(page, 'PostgreSQL connections').locator('.big').textContent()).toMatch(
      /^\d/,
    )
    expect(await cardOf(page, 'Write-ahead log').isVisible()).toBe(false)
    expect(await page.getByRole('cell', { name: 'PLANT_STORE_DATABASE_URL' }).count()).toBe(1)
    await keepScreenshot(page, 'postgres')
    expect(await askAxe(page)).toEqual([])
    const text = await (await fetch(`${server.operationsUrl}/overview.json`)).text()
    expect(text).toContain(url.hostname)
    expect(text + (await page.content())).not.toContain(`:${url.password}@`)
    await postgres.stop()
    await untilState(page, /^Not ready$/)
    expect(await page.locator('#state-reason').textContent()).toMatch(/connect|database/i)
    expect(foreign).toEqual([])
  })
})
