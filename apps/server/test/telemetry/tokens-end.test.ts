import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { logLinesIn, startServerProcess } from '../../../../test/server-process.ts'
import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import { issueToken } from '../../src/auth/tokens.ts'
import { watchTokens } from '../../src/commands/watch-tokens.ts'
import { openSqliteStore } from '../../src/sqlite/store.ts'
import type { TokenRecord } from '../../src/store/store.ts'
import { arrange } from '../commands/program.ts'
import { scrape } from './scraped-server.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** A store with tokens by name, what runs a command on it, and what serves it. */
async function makeTokens(lifetimes: Readonly<Record<string, string>>) {
  const { folder, run } = await arrange([])
  let token = ''
  for (const [name, expires] of Object.entries(lifetimes)) {
    const { code, out } = await run(`token create --name ${name} --expires ${expires}`)
    expect(code).toBe(0)
    token = out.trim()
  }
  /** What a server shows and says of the ends of tokens, from its start to its end. */
  async function serve(shows: boolean) {
    const server = await startServerProcess({ folder, token })
    const name = 'plant_store_next_token_end_timestamp_seconds'
    const read = async () => (await scrape(server)).get(name)
    // It is read while the server listens already.
    if (shows) await expect.poll(read).toBeDefined()
    const nextEnd = (await read()) ?? Number.NaN
    const { out, err } = await server.end()
    return { nextEnd, out, warnings: logLinesIn(err).filter(({ level }) => level === 'warn') }
  }
  return { run, serve }
}

test('a server shows the next end of a token and logs the command that, run, moves it', async () => {
  const now = Date.now()
  const lifetimes = { 'backup-job': '1d', lasting: 'never', web: '80d', cron: '13d' }
  const { run, serve } = await makeTokens(lifetimes)
  const { nextEnd, warnings } = await serve(true)
  expect(nextEnd).toBeGreaterThanOrEqual((now + 13 * DAY_MS) / 1_000)
  expect(nextEnd).toBeLessThan((now + 14 * DAY_MS) / 1_000)
  expect(warnings).toMatchObject([
    {
      tokenName: 'cron',
      expires: new Date(nextEnd * 1_000).toISOString(),
      msg: 'a token ends in 12 days',
      fix: expect.stringMatching(/ token rotate \w+$/),
    },
  ])

  const [command = ''] = /token rotate \w+$/.exec(String(warnings[0]?.fix)) ?? []
  // A successor lives as long as its token did.
  expect((await run(command)).code).toBe(0)
  expect((await run(`${command} --overlap 10d`)).code).toBe(0)
  expect((await serve(true)).nextEnd).toBeGreaterThan(nextEnd)
})

test('a server whose tokens never end shows nothing, and says how to make another', async () => {
  const { serve } = await makeTokens({ lasting: 'never' })
  const { nextEnd, out, warnings } = await serve(false)
  expect(nextEnd).toBeNaN()
  expect(out).toMatch(/^Another token, if yours is lost: .* token create --name NAME/m)
  expect(warnings).toEqual([])
})

describe('the watch over tokens', () => {
  afterEach(() => void vi.useRealTimers())

  /** A store with a token that ends after some days, and the times at which the watch does something. */
  async function arrange(days: number, failures = 0) {
    const store = await openSqliteStore({ path: join(temporaryFolder(), 'p.db') })
    onTestFinished(() => store.close())
    for (let count = 0; count < 12; count++) await issueToken(store, `job-${count}`, days * DAY_MS)
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date', 'performance'] })
    const reads: number[] = []
    const lines: Record<string, unknown>[] = []
    const ends: (number | undefined)[] = []
    const begun = Date.now()
    const stop = new AbortController()
    watchTokens(
      {
        async list(): Promise<TokenRecord[]> {
          reads.push((Date.now() - begun) / HOUR_MS)
          if (reads.length <= failures) throw new Error('the database is away')
          return store.tokens.list()
        },
      },
      pino({}, { write: (line) => void lines.push(JSON.parse(line)) }),
      { nextEndIs: (time) => void ends.push(time) },
      stop.signal,
    )
    return { reads, lines, ends, stop, pass: (ms: number) => vi.advanceTimersByTimeAsync(ms) }
  }

  const hours = (count: number) => Array.from({ length: count }, (_, hour) => hour)

  test('reads the store once an hour, logs once a day, and names no more than ten', async () => {
    const { reads, lines, ends, pass, stop } = await arrange(13)
    await pass(48 * HOUR_MS)
    expect(reads).toEqual(hours(49))
    expect(ends).toHaveLength(49)
    expect(lines).toHaveLength(3 * 11)
    expect(lines.slice(0, 10).map(({ tokenName }) => tokenName)).toContain('job-0')
    expect(lines[10]).toMatchObject({ tokens: 2, msg: 'so many more tokens end within 14 days' })
    expect(lines[11]).toMatchObject({ msg: expect.stringMatching(/ends in 1[12] days/) })
    stop.abort()
    await pass(48 * HOUR_MS)
    expect(reads).toHaveLength(49)
  })

  test('outlives a store that cannot be read', async () => {
    const { reads, lines, pass } = await arrange(3, 2)
    await pass(2 * HOUR_MS)
    expect(reads).toEqual(hours(3))
    expect(lines).toHaveLength(11)
  })
})
