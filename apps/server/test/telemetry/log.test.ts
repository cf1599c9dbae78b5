import type { Logger } from 'pino'
import { describe, expect, test, vi } from 'vitest'
import { logLinesIn, post } from '../../../../test/server-process.ts'
import { createLevelSwitch, createLog } from '../../src/telemetry/log.ts'
import { openConnection } from '../wire/raw-socket.ts'
import { request } from '../wire/request.ts'
import { startScrapedServer } from './scraped-server.ts'

/** Anything but printable ASCII, letters and symbols: what could move a cursor or end a line. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

const TOKEN_NAME = 'green\nhouse\u2028\u001b[31m\u202e\u009b'

/** Paths that would forge a line or paint it. */
const HARMFUL_PATHS = [
  '/plants%0a{"level":"fatal"}',
  '/%1b[2J%1b[31mred',
  '/"},{"level":"fatal\\',
  '/%e2%80%a8{"level":"fatal"}',
]

/** What never becomes a request, in latin1. */
const NO_REQUESTS = [
  'GET /a\rb',
  'GET /\x1b[2J',
  // The C1 control sequence introducer, and the bytes of U+2028.
  'GET /\x9b2J',
  'GET /\xe2\x80\xa8',
  'F\x1bG /',
]

test('each request has a line, printable, at debug where it succeeded, with what was sent cut to what is safe', async () => {
  const server = await startScrapedServer({ PLANT_STORE_LOG_LEVEL: 'trace' }, TOKEN_NAME)
  async function send(line: string): Promise<void> {
    const caller = await openConnection(server.port)
    const head = `${line} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`
    caller.send(Buffer.from(head, 'latin1'))
    await caller.readToEnd()
  }
  await server.client.createPlant({ id: 1, name: 'Fern' })
  await (await post(server, { body: '{}' })).text()
  const caller = await openConnection(server.port)
  const authorization = `Bearer ${server.token}`
  caller.send(request({ authorization, more: ['expect: 100-continue'] }).subarray(0, -1))
  await caller.readReply({ hasBody: false })
  caller.reset()
  await server.untilLogged('the caller went away')
  for (const path of HARMFUL_PATHS) await send(`GET ${path}`)
  for (const line of NO_REQUESTS) await send(line)
  await send(`GET /${'p'.repeat(15_000)}?secret=1`)
  await send('GET /path?secret=1')

  const { err } = await server.end()
  expect(err.replaceAll('\n', '')).not.toMatch(UNPRINTABLE)
  const [created, ...others] = logLinesIn(err).filter((line) => 'requestId' in line)
  expect(created).toEqual({
    level: 'debug',
    time: expect.any(String),
    requestId: expect.any(String),
    tokenName: TOKEN_NAME,
    method: 'POST',
    path: '/plants',
    durationMs: expect.any(Number),
    waitMs: expect.any(Number),
    commitMs: expect.any(Number),
    status: 200,
    outcome: 'created',
    msg: 'answered',
  })
  const [waitMs, commitMs] = [Number(created?.waitMs), Number(created?.commitMs)]
  expect(waitMs).toBeGreaterThanOrEqual(0)
  expect(commitMs).toBeGreaterThan(0)
  expect(waitMs + commitMs).toBeLessThanOrEqual(Number(created?.durationMs))
  expect(others).toMatchObject([
    {
      ...{ level: 'info', tokenName: TOKEN_NAME, path: '/plants', durationMs: expect.any(Number) },
      ...{ status: 400, code: 40_002, error: 'invalid_plant' },
    },
    { level: 'debug', tokenName: TOKEN_NAME, msg: 'the caller went away' },
    ...HARMFUL_PATHS.map((path) => ({ level: 'info', status: 401, path })),
    ...NO_REQUESTS.map(() => ({ status: 400, error: 'malformed_request' })),
    { path: `/${'p'.repeat(255)}…` },
    { path: '/path' },
  ])
  expect(JSON.stringify(others.at(-2)).length).toBeLessThan(1_000)
})

/** The line that a log writes of one event. */
function written(say: (log: Logger) => void, forPeople = false): string {
  const lines: string[] = []
  say(createLog('trace', { write: (line) => void lines.push(line) }, forPeople))
  expect(lines).toHaveLength(1)
  return lines[0] ?? ''
}

const cause = Object.assign(new Error('inner'), { code: '23514', detail: 'row (1, marked)' })

test('an error is logged with its causes, and without what a driver adds to it', () => {
  const line = written((log) => log.error({ err: new TypeError('outer', { cause }) }, 'failed'))
  const { err } = JSON.parse(line)
  expect(err).toMatchObject({ message: 'outer', cause: { message: 'inner', code: '23514' } })
  expect(err.stack).toContain('log.test.ts')
  expect(line).not.toContain('marked')
})

/** What a log for people says of one event, without colours, in UTC: its line, and those below it. */
function readable(say: (log: Logger) => void) {
  vi.stubEnv('TZ', 'UTC')
  vi.stubEnv('NO_COLOR', '1')
  const block = written(say, true)
  vi.unstubAllEnvs()
  const [first = '', ...below] = block.trimEnd().split('\n')
  expect(below.filter((line) => !line.startsWith('  '))).toEqual([])
  expect(block.replaceAll('\n', '')).not.toMatch(UNPRINTABLE)
  return { block, first, below }
}

describe('a line for people', () => {
  test('has the local time, the level, the message, and the other fields', () => {
    const about = { method: 'POST', path: '/plants', status: 400, durationMs: 1.5 }
    const { block } = readable((log) => log.info({ ...about, error: 'bad_id' }, 'no id'))
    expect(block).toMatch(
      /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d INFO {2}no id {2}method=POST path=\/plants status=400 durationMs=1\.5 error=bad_id\n$/,
    )
  })

  test('keeps an error, its code and its causes below it, and nothing that a driver added', () => {
    const err = new TypeError('outer', { cause })
    const { block, first, below } = readable((log) => log.error({ err }, 'failed'))
    expect(first).toMatch(/ERROR failed$/)
    expect(below[0]).toBe('  TypeError: outer')
    expect(below).toContain('  caused by: [23514] Error: inner')
    expect(below.filter((line) => /^ {6}at /.test(line)).length).toBeGreaterThan(2)
    expect(block).not.toContain('marked')
  })

  test('is one event in one block, whatever it holds', () => {
    const hostile = 'x\u001b[2J\r\n2026-11-22 forged\u2028\u009b1A\u202e'
    const err = new Error(hostile, { cause: hostile })
    const about = { err, path: hostile, [hostile]: [hostile] }
    const { block } = readable((log) => log.warn(about, hostile))
    expect(block.split('forged').length).toBeGreaterThan(5)
  })

  test('has no credential, and every digit of a number', () => {
    const token = 'plant_0123456789ab_secretsecretsecret'
    const about = { path: `/${token}`, err: new Error(token), id: 2n ** 63n - 1n }
    const { block } = readable((log) => log.info(about, `is ${token}`))
    expect(block).not.toContain('secret')
    expect(block.split('[credential]')).toHaveLength(4)
    expect(block).toContain('id=9223372036854775807')
  })
})

test.each([
  ['error', 'debug'],
  ['debug', 'info'],
])('a log that is set to %s changes its level to %s and back', (level, other) => {
  const log = createLog(level, { write: () => {} })
  const change = createLevelSwitch(log)
  change()
  expect(log.level).toBe(other)
  change()
  expect(log.level).toBe(level)
})
