import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { errorTable, INT64_MAX } from '@plant-store/contract'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { launchChromium, needsChromium } from '../../../../packages/client/runtimes/chromium.ts'
import { useWireServer } from '../wire/harness.ts'
import { token } from '../wire/request.ts'
import {
  askAxe,
  CLOSED_NETWORK,
  type OpenedPage,
  openPage,
  press,
  readAnswer,
  TIMEOUT_MS,
} from './open-page.ts'

vi.setConfig({ testTimeout: TIMEOUT_MS, hookTimeout: TIMEOUT_MS })

const SCREENSHOTS = join(import.meta.dirname, '../../screenshots')

const viewports = {
  desktop: { width: 1280, height: 900 },
  phone: { width: 390, height: 844 },
} as const

const LANGUAGES = ['curl', 'TypeScript', 'Python', 'Go', 'Java']

/** Keeps how a page looks, for people. */
async function keepScreenshot(page: Page, name: string): Promise<void> {
  mkdirSync(SCREENSHOTS, { recursive: true })
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) })
}

/** Where an element stands on the page, in CSS pixels. */
async function boxOf(page: Page, selector: string) {
  const { x = 0, y = 0, width = 0, height = 0 } = (await page.locator(selector).boundingBox()) ?? {}
  return { left: x, top: y, right: x + width, bottom: y + height }
}

const server = useWireServer()
const addressOf = (path = '/docs') => `http://127.0.0.1:${server.port}${path}`

/** The body that is typed, with another id. */
async function readId(page: Page): Promise<bigint> {
  return BigInt(/"id": (\d+)/.exec(await page.locator('#body').inputValue())?.[1] ?? -1)
}

describe('the page in Chromium, the network closed', needsChromium, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchChromium(CLOSED_NETWORK)
  })
  afterAll(() => browser?.close())

  async function open(options?: Parameters<typeof openPage>[2]): Promise<OpenedPage> {
    return openPage(browser, addressOf(), options)
  }

  test('stores what is typed, to the digit, and says what became of it', async () => {
    const { page, expectClean } = await open()
    await page.getByLabel('Token', { exact: true }).fill(` ${token.text} `)
    await page
      .getByLabel('Plant', { exact: true })
      .fill(`{"id":${INT64_MAX - 1n},"name":"Fern 🌱","tag":""}`)
    await press(page, 'Send')
    expect(await readAnswer(page)).toMatchObject({
      verdict: 'Stored',
      words: expect.stringContaining('stable storage'),
      learned: '',
      facts: expect.stringMatching(/^Status200Time[\d.]+ m?sRequest id[\w-]{36}$/),
      reply: '{"name":"Fern 🌱","tag":""}',
      sent: expect.stringMatching(/^POST \/plants\nauthorization: Bearer \*{8}\n/),
    })
    expect(await server.database.readPlants()).toStrictEqual([
      { id: INT64_MAX - 1n, name: 'Fern 🌱', tag: '' },
    ])
    await page.getByLabel('Plant', { exact: true }).press('Control+Enter')
    await page.getByText('Already there').waitFor()
    await expectClean()
  })

  test('teaches one thing by each button', async () => {
    const { page, expectClean } = await open()
    const other = page.getByRole('button', { name: 'Other content, same id' })
    const again = page.getByRole('button', { name: 'The same plant again' })
    expect([await other.isDisabled(), await again.isDisabled()]).toEqual([true, true])
    await page.getByLabel('Token', { exact: true }).fill(token.text)
    await press(page, 'Send')
    const first = await readId(page)
    const expected = [
      ['The same plant again', 'Already there', '200', 'A repeat cannot hurt.'],
      [
        'Other content, same id',
        'Nothing stored',
        '40003 id_taken',
        'Nothing is ever overwritten.',
      ],
      ['The same plant again', 'Already there', '200', 'A repeat cannot hurt.'],
      ['The largest id', 'Stored', '200', 'An id keeps every digit.'],
      ['The largest id', 'Already there', '200', 'An id keeps every digit.'],
      ['An id beyond it', 'Nothing stored', '40002 invalid_plant', 'An id is never rounded'],
      ['No token', 'Nothing stored', '40100 missing_credentials', 'Errors tell the truth.'],
      ['A wrong token', 'Nothing stored', '40101 invalid_token', 'The number tells'],
    ] as const
    for (const [button, verdict, fact, learned] of expected) {
      await press(page, button)
      const answer = await readAnswer(page)
      expect(answer, button).toMatchObject({ verdict, facts: expect.stringContaining(fact) })
      expect(answer.learned, button).toContain(learned)
    }
    expect((await readAnswer(page)).sent).toContain('Bearer plant_that_nobody_made')
    const stored = await server.database.readPlants()
    expect(stored).toStrictEqual([
      { id: first, name: 'Fern', tag: 'indoor' },
      { id: INT64_MAX, name: 'Giant sequoia', tag: 'trial' },
    ])
    await page.getByRole('button', { name: 'New id' }).click()
    expect(await readId(page)).not.toBe(INT64_MAX)
    await expectClean()
  })

  test('teaches nothing that the answer does not show', async () => {
    const { page } = await open()
    await press(page, 'The largest id')
    expect(await readAnswer(page)).toMatchObject({
      verdict: 'Nothing stored',
      facts: expect.stringContaining('40100'),
      learned: '',
    })
    expect((await readAnswer(page)).sent).not.toContain('authorization')
  })

  test('leads from an answer to the row of its error', async () => {
    const { page } = await open()
    await press(page, 'Send')
    await page.getByRole('link', { name: '40100 missing_credentials' }).click()
    expect(await page.locator('tr:target').textContent()).toContain('40100')
    await page.locator('tr:target').waitFor()
    expect(await page.getByRole('row').count()).toBe(Object.keys(errorTable).length + 3 + 2)
  })

  test('shows no token, and keeps it nowhere but in its field', async () => {
    const { page, expectClean } = await open()
    await page.getByLabel('Token', { exact: true }).fill(token.text)
    await press(page, 'Send')
    await page.getByText('What was sent').click()
    await page.getByLabel('Copy it with my token').check()
    for (const name of LANGUAGES) {
      await page.getByRole('tab', { name }).click()
      expect(await page.locator('#command').textContent()).toContain('********')
      expect(await page.content()).not.toContain(token.text)
    }
    expect(page.url()).toBe(addressOf())
    await expectClean()
    await page.reload()
    await page.locator('#send:enabled').waitFor()
    expect(await page.getByLabel('Token', { exact: true }).inputValue()).toBe('')
  })

  test('copies a program with the token only where one says so', async () => {
    const { page } = await open({ permissions: ['clipboard-read', 'clipboard-write'] })
    await page.getByLabel('Token', { exact: true }).fill(token.text)
    const copy = async () => {
      await page.getByRole('button', { name: 'Copy', exact: true }).click()
      await page.getByRole('button', { name: 'Copied' }).waitFor()
      const copied = await page.evaluate('navigator.clipboard.readText()')
      await page.getByRole('button', { name: 'Copy', exact: true }).waitFor()
      return copied
    }
    expect(await copy()).toBe(await page.locator('#command').textContent())
    await page.getByLabel('Copy it with my token').check()
    expect(await copy()).toContain(`Bearer ${token.text}'`)
  })

  test('can be used with the keyboard alone', async () => {
    const { page } = await open()
    const focused = () =>
      page.evaluate('document.activeElement.id || document.activeElement.textContent')
    const stops: unknown[] = []
    for (let stop = 0; stop < 20; stop++) {
      await page.keyboard.press('Tab')
      stops.push(await focused())
    }
    const lessonStops = ['largest', 'beyond', 'no-token', 'wrong-token'].map((id) => `lesson-${id}`)
    const links = ['Plant Store', 'Programs', 'Rules', 'Errors', 'Document']
    const form = ['token', 'body', 'send', 'new-id']
    const program = ['tab-0', 'copy', 'program', 'with-token']
    const documents = ['openapi.json', 'openapi.yaml', 'openapi-3.0.json']
    expect(stops).toEqual([...links, ...form, ...lessonStops, ...program, ...documents])
    await page.locator('#token').focus()
    await page.keyboard.type(token.text)
    await page.keyboard.press('Enter')
    await page.getByText('stable storage').waitFor()
    await page.locator('#tab-0').focus()
    for (const [key, name] of [
      ['ArrowLeft', 'Java'],
      ['ArrowRight', 'curl'],
      ['End', 'Java'],
      ['Home', 'curl'],
      ['ArrowRight', 'TypeScript'],
    ] as const) {
      await page.keyboard.press(key)
      expect(await focused()).toBe(`tab-${LANGUAGES.indexOf(name)}`)
      expect(await page.getByRole('tabpanel', { name }).count()).toBe(1)
      expect(await page.locator('[role="tab"][tabindex="0"]').allTextContents()).toEqual([name])
    }
  })

  test('has the structure of its picture', async () => {
    const { page } = await open()
    await page.getByLabel('Token', { exact: true }).fill(token.text)
    await press(page, 'Send')
    const names = await page.getByRole('button').allTextContents()
    const pressed = ['Send', 'New id', 'The largest id', 'An id beyond it', 'The same plant again']
    const more = ['Other content, same id', 'No token', 'A wrong token', 'Copy']
    expect(names).toEqual([...pressed, ...more])
    expect(await page.getByRole('tab').allTextContents()).toEqual(LANGUAGES)
    const tree = await page.locator('main > div').ariaSnapshot()
    const masked = tree
      .replaceAll(token.text, '<token>')
      .replaceAll(/\d+(?=, \\"name)/g, '<id>')
      .replace(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/, '<request id>')
      .replace(/definition: [\d.]+ m?s/, 'definition: <time>')
    await expect(`${masked}\n`).toMatchFileSnapshot('page-structure.txt')
  })

  test.each([
    ['desktop', 'light'],
    ['desktop', 'dark'],
    ['phone', 'light'],
    ['phone', 'dark'],
  ] as const)('on a %s in %s is laid out for it, and axe finds nothing', async (device, scheme) => {
    const { page, expectClean } = await open({
      viewport: viewports[device],
      colorScheme: scheme,
      hasTouch: device === 'phone',
    })
    await keepScreenshot(page, `${device}-${scheme}`)
    const { width, height } = viewports[device]
    const [form, lessons] = [await boxOf(page, '#form'), await boxOf(page, '.lessons')]
    const answer = await boxOf(page, '#answer')
    expect(answer.top).toBeGreaterThanOrEqual(form.bottom)
    expect(answer.bottom, 'the answer is on the first screen').toBeLessThanOrEqual(height)
    if (device === 'desktop') expect(lessons.left).toBeGreaterThan(form.right)
    else expect(lessons.top).toBeGreaterThanOrEqual(answer.bottom)
    expect(await askAxe(page)).toEqual([])

    await page.getByLabel('Token', { exact: true }).fill(token.text)
    await press(page, 'Send')
    await keepScreenshot(page, `${device}-${scheme}-stored`)
    await press(page, 'Other content, same id')
    await keepScreenshot(page, `${device}-${scheme}-refused`)
    const shown = await boxOf(page, '#verdict')
    expect(shown.top, 'the verdict is on the screen').toBeGreaterThanOrEqual(0)
    expect(shown.bottom).toBeLessThanOrEqual(height)
    for (const [index] of LANGUAGES.entries()) {
      await page.locator(`#tab-${index}`).click()
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    }
    expect(await askAxe(page)).toEqual([])
    await expectClean()
  })

  test('without JavaScript shows the command, the rules and the errors', async () => {
    const { page } = await open({ javaScriptEnabled: false })
    expect(await page.locator('noscript').textContent()).toContain('this page cannot send')
    expect(await page.getByRole('button', { disabled: false }).count()).toBe(0)
    expect(await page.locator('#command').isVisible()).toBe(true)
    expect(await page.locator('#outcome_unknown').textContent()).toContain('perhaps')
    expect(await page.locator('#rules').textContent()).toContain('9223372036854775807')
  })
})
