import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { describe, expect, onTestFinished, test } from 'vitest'
import { launchChromium, needsChromium } from './chromium.ts'
import { startHostileServer } from './hostile-server.ts'
import { needs } from './needs.ts'
import { findRuntimes, UNDICI } from './runtimes.ts'

const PACKAGE = join(import.meta.dirname, '..')
const ENTRY = join(import.meta.dirname, 'entry.ts')
/** The client as it is published. */
const CLIENT = join(PACKAGE, 'dist/index.js')

/** What a runtime may take to close what it kept open; a forgotten timer takes longer. */
const END_MS = 4_000

/** A module and all it needs as one script that any runtime takes, Node.js 20 included. */
async function bundle(entryPoint: string): Promise<string> {
  const form = { bundle: true, format: 'esm', target: 'es2022', platform: 'browser' } as const
  const options = { entryPoints: [entryPoint], write: false as const, ...form }
  return (
    (await build({ ...options, supported: { 'top-level-await': true } })).outputFiles[0]?.text ?? ''
  )
}

async function startServer(scripts?: Readonly<Record<string, string>>): Promise<string> {
  const { controlUrl, close } = await startHostileServer(scripts)
  onTestFinished(close)
  return controlUrl
}

describe('every claim holds, and the process ends by itself,', () => {
  for (const { title, kind, program, flags } of findRuntimes()) {
    const isThere = program !== undefined && UNDICI !== undefined
    test(`on ${title}`, needs(title, isThere), async () => {
      // Inside the package, where every runtime finds what the client imports.
      const folder = mkdtempSync(join(PACKAGE, 'node_modules/.runtimes-'))
      onTestFinished(() => rmSync(folder, { recursive: true }))
      const script = join(folder, 'entry.mjs')
      writeFileSync(script, await bundle(ENTRY))
      const urls = [CLIENT, String(UNDICI)].map((path) => pathToFileURL(path).href)
      const args = [...flags, script, await startServer(), ...urls, kind]
      const child = spawn(String(program), args, { stdio: ['ignore', 'pipe', 'inherit'] })
      onTestFinished(() => void child.kill('SIGKILL'))
      let output = ''
      let printedAt = Number.NaN
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text
        printedAt = performance.now()
      })
      await once(child, 'close')
      expect(JSON.parse(output)).toStrictEqual([])
      expect(performance.now() - printedAt).toBeLessThan(END_MS)
    })
  }
})

test('every claim holds in a page of another origin than the server', needsChromium, async () => {
  const scripts = { 'entry.js': await bundle(ENTRY), 'client.js': await bundle(CLIENT) }
  const controlUrl = await startServer(scripts)
  const browser = await launchChromium()
  onTestFinished(() => browser.close())
  const page = await browser.newPage()
  await page.goto(controlUrl)
  const problems = await page.waitForFunction(() => globalThis.problems, null, { timeout: 0 })
  expect(await problems.jsonValue()).toStrictEqual([])
})
