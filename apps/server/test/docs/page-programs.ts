import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { launchChromium, needsChromium } from '../../../../packages/client/runtimes/chromium.ts'
import { needs } from '../../../../packages/client/runtimes/needs.ts'
import { languages } from '../../page/commands/languages.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { useWireServer } from '../wire/harness.ts'
import { token } from '../wire/request.ts'
import { CLOSED_NETWORK, openPage, TIMEOUT_MS } from './open-page.ts'

// A compiler of Go or Java begins cold.
vi.setConfig({ testTimeout: 3 * TIMEOUT_MS, hookTimeout: TIMEOUT_MS })

const run = promisify(execFile)

/** How a text of the page is run, by the name of its tab; what it needs comes first. */
const runs: Readonly<Record<string, readonly [string, ...string[]]>> = {
  curl: ['sh'],
  TypeScript: [process.execPath],
  Python: ['python3'],
  Go: ['go', 'run'],
  Java: ['java'],
}

function isThere(program: string): boolean {
  try {
    execFileSync(program, [program === 'go' ? 'version' : '--version'], { stdio: 'ignore' })
    return true
  } catch {
    // dash, which is most often `sh`, knows no --version.
    return program === 'sh'
  }
}

/** Names that a language could read otherwise than they are written. */
const NAME = [
  'Fern 🌱',
  `'"\`"""'''`,
  '$HOME $(id) $x %s {x} #{x} \\(x)',
  '\\ \\\\ \\n \\u0041 \\x41',
  'line\nfeed\r\ttab\u2028\u00a0\ufeff\u007f',
  '@file <b>&amp;</b> !! *',
].join(' ')

const bodies = [
  ['the first plant', '{"id":9223372036854775807,"name":"Fern","tag":"indoor"}'],
  ['a name with everything', JSON.stringify({ id: -3, name: NAME })],
  ['an empty tag', '{"name":"","tag":"","id":-9223372036854775808}'],
] as const

/** Runs what the page shows for some languages, as it says. */
export function describePrograms(...names: readonly string[]): void {
  const server = useWireServer()
  const chosen = languages.filter(({ name }) => names.includes(name))

  describe.each(chosen)('what the page shows for $name', ({ name, file = 'first.sh' }) => {
    const [program, ...args] = runs[name] ?? ['']
    const needsIt = needs(program, isThere(program))

    describe('in Chromium', needsChromium, () => {
      let browser: Browser
      beforeAll(async () => {
        browser = await launchChromium(CLOSED_NETWORK)
      })
      afterAll(() => browser?.close())

      /** The text that the tab shows for a body, run as the page says, with the token around it. */
      async function runShown(body: string, environment = { PLANT_STORE_TOKEN: token.text }) {
        const { page } = await openPage(browser, `http://127.0.0.1:${server.port}/docs`)
        await page.getByRole('tab', { name }).click()
        await page.getByLabel('Plant', { exact: true }).fill(body)
        const shown = (await page.locator('#command').textContent()) ?? ''
        const folder = temporaryFolder()
        mkdirSync(join(folder, 'node_modules/@plant-store'), { recursive: true })
        const client = join(import.meta.dirname, '../../../../packages/client')
        symlinkSync(client, join(folder, 'node_modules/@plant-store/client'))
        writeFileSync(join(folder, file), shown)
        const { HOME, PATH } = process.env
        const env = { HOME, PATH, ...environment }
        return run(program, [...args, file], { cwd: folder, env, encoding: 'utf8' })
      }

      test.each(bodies)('stores %s as it was typed', needsIt, async (_what, body) => {
        const { stdout } = await runShown(body)
        const { id, ...plant } = JSON.parse(body)
        if (name !== 'TypeScript') expect(stdout).toMatch(/\b200\b/)
        expect(await server.database.readPlants()).toStrictEqual([
          { id: BigInt(/"id":(-?\d+)/.exec(body)?.[1] ?? ''), ...plant },
        ])
      })

      test('sends a body that is no plant as it is, and shows the answer', needsIt, async () => {
        const { stdout } = await runShown('{"id":9223372036854775808,"name":"it\'s `$x`"}')
        expect(stdout).toMatch(/\b400\b/)
        expect(stdout).toContain('"error":40002')
        expect(stdout).toContain('must be an integer between')
        expect(await server.database.readPlants()).toEqual([])
      })
    })
  })
}
