import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { needsOpenssl } from '../../../test/certificate.ts'
import { needs } from '../../../test/needs.ts'
import { type Report, TOKEN, TOTAL_TIMEOUT_MS } from './agent.ts'
import type { Call, Case, Facts, Order } from './case.ts'
import { bulkCases } from './cases/bulk.ts'
import { connectionCases } from './cases/connection.ts'
import { protocolCases } from './cases/protocol.ts'
import { sendCases } from './cases/sends.ts'
import { launchChromium, needsChromium } from './chromium.ts'
import { startHostileServer } from './hostile-server.ts'
import { findRuntimes, type Runtime, UNDICI } from './runtimes.ts'
import { findIn, isUnsafe } from './secret-search.ts'

const PACKAGE = join(import.meta.dirname, '..')
/** The client as it is published, and its other transport. */
const CLIENT = join(PACKAGE, 'dist/index.js')
const TRANSPORT = join(PACKAGE, 'dist/undici.js')

/** Everything that a server may do to its caller. */
const cases: readonly Case[] = [...connectionCases, ...sendCases, ...protocolCases, ...bulkCases]

/** What a runtime may take to close what it kept open; a forgotten timer takes longer. */
const END_MS = 4_000

/** What a call may take beyond its own times, on a busy machine. */
const SLACK_MS = 1_000

/** How long what was on its way at the end of a case may still arrive. */
const ARRIVAL_MS = 150

/**
 * A program that carries out orders, for any runtime, Node.js 20 included.
 * @param library where it gets the client from, as an expression
 */
async function writeProgram(
  orders: readonly Order[][],
  library: string,
  end: string,
  isOverUndici = false,
) {
  const paths = [CLIENT, String(UNDICI), ...(isOverUndici ? [TRANSPORT] : [])]
  const urls = paths.map((path) => pathToFileURL(path).href)
  const contents = `import { carryOut } from './agent.ts'
    const [client, undici, transport] = ${JSON.stringify(urls)}
    const fetch = transport && (await import(transport)).undiciFetch
    const means = { library: await import(${library}), fetch }
    const report = carryOut(means, ${JSON.stringify(orders)}, undici)
    ${end}`
  const stdin = { contents, resolveDir: import.meta.dirname }
  const form = { bundle: true, format: 'esm', target: 'es2022', platform: 'browser' } as const
  const { outputFiles } = await build({ stdin, write: false, ...form })
  return outputFiles[0]?.text ?? ''
}

interface Ended {
  readonly report: Report
  /** From the report to the end of the process. */
  readonly endMs: number
}

async function runInProcess(
  { program, flags, isOverUndici }: Runtime & { readonly isOverUndici?: boolean },
  orders: readonly Order[][],
) {
  // Inside the package, where every runtime finds what the client imports.
  const folder = mkdtempSync(join(PACKAGE, 'node_modules/.runtimes-'))
  const script = join(folder, 'agent.mjs')
  const end = 'process.stdout.write(JSON.stringify(await report))'
  writeFileSync(script, await writeProgram(orders, 'client', end, isOverUndici))
  const child = spawn(String(program), [...flags, script], { stdio: ['ignore', 'pipe', 'inherit'] })
  let printedAt = Number.NaN
  child.stdout.on('data', () => {
    printedAt = performance.now()
  })
  const printed = await text(child.stdout)
  rmSync(folder, { recursive: true })
  return { report: JSON.parse(printed), endMs: performance.now() - printedAt }
}

async function runInBrowser(url: string, orders: readonly Order[][]): Promise<Ended> {
  const browser = await launchChromium()
  const page = await browser.newPage()
  await page.goto(url)
  const content = await writeProgram(orders, JSON.stringify(CLIENT), 'globalThis.report = report')
  await page.addScriptTag({ type: 'module', content })
  const find = () => (globalThis as unknown as { report?: Promise<Report> }).report
  const report = await page.waitForFunction(find, null, { timeout: 0 })
  const ended = { report: (await report.jsonValue()) as Report, endMs: 0 }
  await browser.close()
  return ended
}

/** In words, what of a call is not as it has to be. */
function expectFacts(facts: Facts, { ends, differs, options }: Call, isOther: boolean): void {
  for (const [name, value] of Object.entries({ ...ends, ...(isOther && differs) })) {
    expect([value].flat(), name).toContainEqual(facts[name as keyof Facts])
  }
  if (facts.code === 'stored') expect(facts.plant).toStrictEqual({ name: 'Fern' })
  expect(facts.reason?.trim()).not.toBe('')
  if (facts.rows !== undefined) return
  expect(facts.ms).toBeLessThan((options?.totalTimeoutMs ?? TOTAL_TIMEOUT_MS) + SLACK_MS)
  if (facts.code === 'aborted') expect(facts.msAfterAbort).toBeLessThan(SLACK_MS)
}

const browser: Runtime = { title: 'Chromium', kind: 'browser', program: '', flags: [] }

const runtimes = findRuntimes()
const overUndici = runtimes
  .filter(({ kind }) => kind === 'node')
  .map((one) => ({ ...one, title: `${one.title} over undici`, isOverUndici: true }))

describe.each([...runtimes, ...overUndici, browser])('on $title', (runtime) => {
  const { kind, program, title } = runtime
  const isThere = program !== undefined && UNDICI !== undefined
  const possible = cases.filter(({ cannot = {} }) => !(kind in cannot))
  const needsRuntime = kind === 'browser' ? needsChromium : needs(title, isThere)
  const needed = needsOpenssl.skip ? needsOpenssl : needsRuntime
  let server: Awaited<ReturnType<typeof startHostileServer>>
  let ended: Ended

  beforeAll(async () => {
    if (needed.skip) return
    server = await startHostileServer(possible)
    const orders = possible.map(({ calls }, index) =>
      calls.map(({ ends: _ends, differs: _differs, to = 'server', ...order }) => {
        return { ...order, url: server.opened[index]?.urls[to] ?? '' }
      }),
    )
    ended = await (kind === 'browser'
      ? runInBrowser(server.url, orders)
      : runInProcess(runtime, orders))
  })

  afterAll(() => server?.close())

  test.each(possible.map((one, index) => [one.claim, one, index] as const))(
    '%s',
    needed,
    (_claim, { calls, check, differs = {}, requests }, index) => {
      const { facts, endedAt } = ended.report.cases[index] ?? { facts: [], endedAt: 0 }
      const { seen } = server.opened[index] ?? { seen: [] }
      for (const [at, call] of calls.entries()) {
        expectFacts(facts[at] ?? { ms: 0 }, call, kind in differs)
        const isStored = seen.some((request) => request.isStored)
        expect(facts[at]?.applied === 'no' && isStored, 'stored, and said not to be').toBe(false)
      }
      if (requests !== undefined) expect(seen).toHaveLength(requests)
      expect(seen.filter(({ at }) => at > endedAt + ARRIVAL_MS)).toEqual([])
      check?.(facts, seen, kind in differs)
    },
  )

  test('no error and no event shows the token, or what a terminal would obey', needed, () => {
    const { texts, prints } = ended.report
    expect(findIn([...texts, ...prints], TOKEN)).toBeUndefined()
    expect(texts.filter(isUnsafe)).toEqual([])
  })

  test(
    'nothing is printed, no rejection is left unhandled, and the process ends by itself',
    needed,
    () => {
      expect(ended.report.noise).toEqual([])
      expect(ended.endMs).toBeLessThan(END_MS)
    },
  )
})
