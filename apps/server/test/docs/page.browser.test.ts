import { INT64_MAX } from '@plant-store/contract'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { needsChromium } from '../../../../packages/client/runtimes/chromium.ts'
import { expectWellMade, SCREENS, useBrowser } from '../browser.ts'
import { useWireServer } from '../wire/harness.ts'
import { token } from '../wire/request.ts'

const server = useWireServer()

describe('the page in Chromium, the network closed', needsChromium, () => {
  const browser = useBrowser()

  async function open(options: BrowserContextOptions = {}): Promise<Page> {
    const page = await browser.open(`http://127.0.0.1:${server.port}/docs`, options)
    if (options.javaScriptEnabled !== false) await page.locator('#send:enabled').waitFor()
    return page
  }

  /** Sends, and waits for this verdict. */
  async function send(page: Page, verdict: string): Promise<void> {
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByRole('heading', { name: verdict, exact: true }).waitFor()
  }

  test('stores what is typed, to the digit, and says what became of it', async () => {
    const page = await open()
    await page.getByLabel('Token').fill(` ${token.text} `)
    const id = INT64_MAX - 1n
    const plant = page.getByLabel('Plant', { exact: true })
    await plant.fill(`{"id":${id},"name":"Fern 🌱","tag":"it's"}`)
    expect(await page.locator('#command').textContent()).toContain(`"tag":"it'\\''s"}'`)
    await send(page, 'Stored')
    expect(await page.locator('#reply').textContent()).toBe('{"name":"Fern 🌱","tag":"it\'s"}')
    expect(await server.database.readPlants()).toStrictEqual([{ id, name: 'Fern 🌱', tag: "it's" }])
    await plant.press('Control+Enter')
    await page.getByRole('heading', { name: 'Already there' }).waitFor()
    await plant.fill(`{"id":${id},"name":"Moss"}`)
    await send(page, 'Nothing stored')
    await page.getByRole('link', { name: '40003 id_taken' }).click()
    expect(await page.locator('tr:target').textContent()).toContain('A plant with another name')
    await page.getByRole('button', { name: 'New id' }).click()
    expect(await plant.inputValue()).not.toContain(String(id))
    await send(page, 'Stored')
    expect(await page.content()).not.toContain(token.text)
  })

  test('says that the plant may be stored where its answer is lost or not the server’s', async () => {
    const page = await open()
    await page.getByLabel('Token').fill(token.text)
    await page.route('**/plants', (route) => route.abort())
    await send(page, 'May be stored')
    expect(await page.locator('#words').textContent()).toContain('No response came. Send the same')
    const answers = [
      { status: 502, body: '<h1>Bad gateway</h1>' },
      { status: 200, body: '{"welcome":"to the network of this hotel"}' },
      { status: 500, body: '{"error":59999,"message":"of a later version"}' },
    ]
    for (const answer of answers) {
      await page.unroute('**/plants')
      await page.route('**/plants', (route) => route.fulfill(answer))
      await send(page, 'May be stored')
      await page.getByText(answer.body).waitFor()
    }
    expect(await page.locator('#reply h1').count()).toBe(0)
  })

  test.each([
    ['no token', ''],
    ['a token that a header cannot hold', 'plant_\u{1f331}'],
  ])('with %s marks the field and sends nothing', async (_case, typed) => {
    const page = await open()
    await page.getByLabel('Token').fill(typed)
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    expect(await page.evaluate('document.activeElement.matches("#token:invalid")')).toBe(true)
    expect(await page.locator('#answer[data-verdict]').count()).toBe(0)
  })

  test.each(SCREENS)('fits a $name screen, and axe finds nothing', async ({ name, ...screen }) => {
    const page = await open(screen)
    await page.getByLabel('Token').fill(token.text)
    await send(page, 'Stored')
    expect(await page.locator('#verdict').boundingBox()).toMatchObject({ y: expect.any(Number) })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(screen.viewport.width)
    await expectWellMade(page, `docs-${name}`)
  })

  test('without JavaScript shows the command, and sends nothing', async () => {
    const page = await open({ javaScriptEnabled: false })
    expect(await page.locator('noscript').textContent()).toContain('this page cannot send')
    expect(await page.getByRole('button', { disabled: false }).count()).toBe(0)
    expect(await page.locator('#command').isVisible()).toBe(true)
  })
})
