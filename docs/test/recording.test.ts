import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { launchChromium, needsChromium } from '../../packages/client/runtimes/chromium.ts'
import { recordImport } from '../recording/import-recording.ts'
import { textOf } from '../recording/screen.ts'
import { openSession } from '../recording/session.ts'
import { drawRecording, escapeXml, type Frame } from '../recording/svg.ts'
import { withoutTimes } from '../recording/transcript.ts'
import { read } from './markdown.ts'

/** A browser on a machine that may have other work. */
const TIMEOUT_MS = 60_000

const COLUMNS = 60

const COMMITTED = read('docs/import.svg')

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-recording-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

/** What a reader sees, each character in the column where it stands, in a script for the browser. */
const READ_SCREEN = `(() => {
  const rows = []
  const { width, height } = document.querySelector('clipPath rect')
  const origin = document.querySelector('[clip-path]').parentNode.getScreenCTM()
  for (const text of document.querySelectorAll('text')) {
    const window = text.closest('[clip-path]').getScreenCTM()
    const box = text.getBoundingClientRect()
    const middle = ((box.top + box.bottom) / 2 - window.f) / window.d
    if (middle < 0 || middle > height.baseVal.value) continue
    const row = Math.round((window.f - origin.f) / window.d / height.baseVal.value)
    rows[row] ??= []
    for (let index = 0; index < text.textContent.length; index++) {
      const column = (text.getStartPositionOfChar(index).x / width.baseVal.value) * COLUMNS
      rows[row][Math.round(column)] = text.textContent[index]
    }
  }
  return Array.from(rows, (row) => Array.from(row ?? [], (letter) => letter ?? ' ').join('')).join('\\n')
})()`

function screenOf(page: Page, columns = COLUMNS): Promise<string> {
  return page.evaluate(READ_SCREEN.replace('COLUMNS', String(columns)))
}

async function openDrawing(
  browser: Browser,
  svg: string,
  reducedMotion: 'reduce' | 'no-preference',
) {
  const path = join(temporaryFolder(), 'drawing.svg')
  writeFileSync(path, svg)
  const context = await browser.newContext({ reducedMotion })
  const page = await context.newPage()
  onTestFinished(() => context.close())
  await page.goto(`file://${path}`)
  return page
}

async function recordShell(script: string): Promise<Frame[]> {
  const session = openSession({
    columns: COLUMNS,
    rows: 8,
    folder: temporaryFolder(),
    environment: { PATH: process.env.PATH ?? '' },
  })
  try {
    await session.waitFor(/^\$$/)
    await session.type(`${script}; echo it is "over"\r`, 1)
    await session.waitFor(/it is over\n\$$/, 30_000)
    return session.frames()
  } finally {
    session.close()
  }
}

describe('a recording in Chromium', needsChromium, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchChromium()
  }, TIMEOUT_MS)
  afterAll(() => browser?.close())

  test('shows at each time what the terminal showed', { timeout: TIMEOUT_MS }, async () => {
    const bar = `for n in 1 2 3; do printf '\\r\\033[32m  #%s\\033[0m of <3>   & "x"' $n; sleep 1; done; echo`
    const frames = await recordShell(bar)
    const recording = { title: 'A bar', description: 'It moves.', columns: COLUMNS, holdMs: 1_000 }
    const page = await openDrawing(
      browser,
      drawRecording({ ...recording, frames }),
      'no-preference',
    )
    for (const words of ['#1 of <3>   & "x"', '#2 of <3>   & "x"', '#3 of <3>   & "x"']) {
      expect(frames.map(textOf).join('\n')).toContain(words)
    }
    for (const [index, frame] of frames.entries()) {
      const untilMs = frames[index + 1]?.atMs ?? frame.atMs + recording.holdMs
      await page.evaluate(`for (const animation of document.getAnimations()) {
        animation.pause()
        animation.currentTime = ${(frame.atMs + untilMs) / 2}
      }`)
      expect(await screenOf(page)).toBe(textOf(frame))
    }
  })

  test('stands at its end for who asks for less motion', { timeout: TIMEOUT_MS }, async () => {
    const frames = await recordShell('echo first; sleep 0.2; clear')
    const recording = { title: 'Two', description: 'Two.', columns: COLUMNS, holdMs: 60_000 }
    const page = await openDrawing(browser, drawRecording({ ...recording, frames }), 'reduce')
    expect(await screenOf(page)).toBe('it is over\n$')
    expect(await page.evaluate('document.getAnimations().length')).toBe(0)
  })

  test('of an import ends with the words that it gives as its description', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const page = await openDrawing(browser, COMMITTED, 'reduce')
    expect(await page.evaluate('document.documentElement.nodeName')).toBe('svg')
    const described = await page.evaluate<string>(`document.querySelector('desc').textContent`)
    expect(described).toContain('$ plant-store import plants.csv')
    expect(await screenOf(page, 96)).toBe(described)
  })
})

describe('the recording of an import', () => {
  test('is small and needs nothing else', () => {
    expect(COMMITTED.length).toBeLessThan(150_000)
    expect(COMMITTED).not.toMatch(
      /<script|<image|<foreignObject|@import|@font-face|href|url\((?!#)/,
    )
    expect(COMMITTED.replace('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:/)
  })

  test('ends with what the command line says now; `pnpm record` renews it', {
    timeout: 120_000,
  }, async () => {
    const [, described = ''] = /<desc [^>]*>([^<]*)<\/desc>/.exec(COMMITTED) ?? []
    const { description } = await recordImport(1)
    expect(withoutTimes(described)).toBe(withoutTimes(escapeXml(description)))
  })
})
