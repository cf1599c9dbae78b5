import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { needsChromium } from '../../../../packages/client/runtimes/chromium.ts'
import { findFreePort } from '../../../../test/free-port.ts'
import { plantText, post } from '../../../../test/server-process.ts'
import { expectWellMade, SCREENS, useBrowser } from '../browser.ts'
import { read, startScrapedServer } from './scraped-server.ts'

function untilState(page: Page, word: string | RegExp): Promise<void> {
  return page.getByRole('status').filter({ hasText: word }).waitFor()
}

/** The line of words of each plot, by its title. */
async function readPlots(page: Page): Promise<Record<string, string>> {
  const titles = await page.getByRole('article').getByRole('heading').allTextContents()
  const values = await page.getByRole('article').locator('p:not(.note)').allInnerTexts()
  return Object.fromEntries(titles.map((title, index) => [title, values[index] ?? '']))
}

describe('the page in Chromium, the network closed', needsChromium, () => {
  const browser = useBrowser()

  test.each(SCREENS)('is whole at rest and under load: $name', async ({ name, ...options }) => {
    const server = await startScrapedServer({ PLANT_STORE_REQUEST_LIMIT: '99' })
    const page = await browser.open(server.operationsUrl, options)
    await untilState(page, /^Ready$/)
    await expect.poll(async () => (await readPlots(page)).Load).toMatch(/wait 0$/)
    expect(await readPlots(page)).toEqual({
      'Plants stored': 'stored 0/s',
      'Time to the response 200': 'no responses 200 now',
      'Refusals and errors': '4xx 0/s 5xx 0/s',
      Load: expect.stringMatching(/^connections \d plants that wait 0$/),
    })
    await expectWellMade(page, `overview-${name}-idle`)
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
    await expectWellMade(page, `overview-${name}-load`)
  })

  test('says that the server is not ready, with the reason, until it is', async () => {
    const server = await startScrapedServer()
    const release = server.holdCommits()
    expect((await post(server)).status).toBe(503)
    const page = await browser.open(server.operationsUrl)
    await untilState(page, /^Not ready$/)
    const { message } = JSON.parse(await read(server, 'readyz'))
    expect(await page.locator('#reason').textContent()).toBe(message)
    await expectWellMade(page, 'overview-not-ready')
    release()
    await untilState(page, /^Ready$/)
  })

  test('says that the server is gone until it is back', async () => {
    const environment = { PLANT_STORE_OPERATIONS_LISTEN: `127.0.0.1:${await findFreePort()}` }
    const server = await startScrapedServer(environment)
    const page = await browser.open(server.operationsUrl)
    await untilState(page, /^Ready$/)
    await server.end('SIGKILL')
    await untilState(page, /^No response from the server$/)
    await expectWellMade(page, 'overview-gone')
    await startScrapedServer(environment)
    await untilState(page, /^Ready$/)
  })
})
