import type { Logger } from 'pino'
import { describe, expect, test, vi } from 'vitest'
import { createLevelSwitch, createLog } from '../../src/telemetry/log.ts'
import { logLinesIn, post } from '../process/server-process.ts'
import { openConnection } from '../wire/raw-socket.ts'
import { request } from '../wire/request.ts'
import { type ScrapedServer, startScrapedServer } from './scraped-server.ts'

/** Anything but printable ASCII, letters and symbols: what could move a cursor or end a line. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

/** Starts a server that logs everything. */
function start(tokenName?: string): Promise<ScrapedServer> {
  return startScrapedServer({ PLANT_STORE_LOG_LEVEL: 'trace' }, tokenName)
}

/** Sends the bytes of a request, given as latin1, on a connection of its own. */
async function send(server: ScrapedServer, head: string): Promise<void> {
  const caller = await openConnection(server.port)
  caller.send(Buffer.from(`${head}\r\nhost: x\r\nconnection: close\r\n\r\n`, 'latin1'))
  await caller.readToEnd()
}

/** Ends a server, and gives what it has logged of requests: one line for each, all of it printable. */
async function endAndReadLog(server: ScrapedServer) {
  const { err } = await server.end()
  expect(err.replaceAll('\n', '')).not.toMatch(UNPRINTABLE)
  return logLinesIn(err).filter((line) => 'requestId' in line)
}

describe('a line for each request', () => {
  test('that succeeded is there at debug, with where the time went', async () => {
    const server = await start()
    await server.client.createPlant({ id: 1, name: 'Fern' })
    const [line] = await endAndReadLog(server)
    expect(line).toEqual({
      level: 'debug',
      time: expect.any(String),
      requestId: expect.any(String),
      tokenName: 'greenhouse',
      method: 'POST',
      path: '/plants',
      durationMs: expect.any(Number),
      waitMs: expect.any(Number),
      commitMs: expect.any(Number),
      status: 200,
      outcome: 'created',
      msg: 'answered',
    })
    const [waitMs, commitMs] = [Number(line?.waitMs), Number(line?.commitMs)]
    expect(waitMs).toBeGreaterThanOrEqual(0)
    expect(commitMs).toBeGreaterThan(0)
    expect(waitMs + commitMs).toBeLessThanOrEqual(Number(line?.durationMs))
  })

  test('that failed is there at info, with its number and its name', async () => {
    const server = await start()
    await (await post(server, { body: '{}' })).text()
    expect(await endAndReadLog(server)).toEqual([
      expect.objectContaining({
        level: 'info',
        tokenName: 'greenhouse',
        path: '/plants',
        status: 400,
        code: 40_002,
        error: 'invalid_plant',
        durationMs: expect.any(Number),
      }),
    ])
  })

  test('whose caller went away in the middle of it is there at debug', async () => {
    const server = await start()
    const caller = await openConnection(server.port)
    const authorization = `Bearer ${server.token}`
    caller.send(request({ authorization, more: ['expect: 100-continue'] }).subarray(0, -1))
    await caller.readReply({ hasBody: false })
    caller.reset()
    await server.untilLogged('the caller went away')
    expect(await endAndReadLog(server)).toMatchObject([{ level: 'debug', tokenName: 'greenhouse' }])
  })
})

describe('what a caller sends', () => {
  test('in the path stays within one line', async () => {
    const server = await start()
    const paths = [
      '/plants%0a{"level":"fatal"}',
      '/%1b[2J%1b[31mred',
      '/"},{"level":"fatal\\',
      '/%e2%80%a8{"level":"fatal"}',
    ]
    for (const path of paths) await send(server, `GET ${path} HTTP/1.1`)
    expect(await endAndReadLog(server)).toMatchObject(
      paths.map((path) => ({ level: 'info', status: 401, path })),
    )
  })

  test('that never becomes a request is logged without its bytes', async () => {
    const server = await start()
    const heads = [
      'GET /a\rb HTTP/1.1',
      'GET /\x1b[2J HTTP/1.1',
      // The C1 control sequence introducer, and the bytes of U+2028.
      'GET /\x9b2J HTTP/1.1',
      'GET /\xe2\x80\xa8 HTTP/1.1',
      'F\x1bG / HTTP/1.1',
    ]
    for (const head of heads) await send(server, head)
    expect(await endAndReadLog(server)).toMatchObject(
      heads.map(() => ({ status: 400, error: 'malformed_request' })),
    )
  })

  test('as a path of 15 KB is cut to 256 characters, and its query left out', async () => {
    const server = await start()
    await send(server, `GET /${'p'.repeat(15_000)}?secret=1 HTTP/1.1`)
    await send(server, 'GET /path?secret=1 HTTP/1.1')
    const [long, short] = await endAndReadLog(server)
    expect(long?.path).toBe(`/${'p'.repeat(255)}…`)
    expect(JSON.stringify(long).length).toBeLessThan(1_000)
    expect(short?.path).toBe('/path')
  })
})

test('a token name of any characters stays within one line', async () => {
  const tokenName = 'green\nhouse\u2028\u001b[31m\u202e'
  const server = await start(tokenName)
  await server.client.createPlant({ id: 1, name: 'Fern' })
  expect(await endAndReadLog(server)).toMatchObject([{ tokenName }])
})

test('an error is logged with its causes, and without what a driver adds to it', () => {
  const lines: string[] = []
  const cause = Object.assign(new Error('inner'), { code: '23514', detail: 'row (1, marked)' })
  createLog('info', { write: (line) => void lines.push(line) }).error(
    { err: new TypeError('outer', { cause }) },
    'failed',
  )
  const { err } = JSON.parse(lines[0] ?? '')
  expect(err).toMatchObject({ message: 'outer', cause: { message: 'inner', code: '23514' } })
  expect(err.stack).toContain('log.test.ts')
  expect(lines[0]).not.toContain('marked')
})

/** What a log for people says of one event, without colours, in UTC. */
function readable(say: (log: Logger) => void): string {
  vi.stubEnv('TZ', 'UTC')
  vi.stubEnv('NO_COLOR', '1')
  const lines: string[] = []
  say(createLog('trace', { write: (line) => void lines.push(line) }, true))
  vi.unstubAllEnvs()
  expect(lines).toHaveLength(1)
  return lines[0] ?? ''
}

const TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d /

describe('a line for people', () => {
  test('has the local time, the level, the message, and and the other fields', () => {
    const about = { method: 'POST', path: '/plants', status: 400, durationMs: 1.5 }
    const line = readable((log) => log.info({ ...about, error: 'bad_id' }, 'no id'))
    expect(line).toMatch(TIME)
    expect(line.replace(TIME, '')).toBe(
      'INFO  no id  method=POST path=/plants status=400 durationMs=1.5 error=bad_id\n',
    )
  })

  test('keeps an error, its code and its causes below it, and nothing that a driver added', () => {
    const cause = Object.assign(new Error('inner'), { code: '23514', detail: 'marked' })
    const block = readable((log) => log.error({ err: new TypeError('outer', { cause }) }, 'failed'))
    const [first, ...below] = block.trimEnd().split('\n')
    expect(first).toMatch(/ERROR failed$/)
    expect(below[0]).toBe('  TypeError: outer')
    expect(below).toContain('  caused by: [23514] Error: inner')
    expect(below.filter((line) => !line.startsWith('  '))).toEqual([])
    expect(below.filter((line) => /^ {6}at /.test(line)).length).toBeGreaterThan(2)
    expect(block).not.toContain('marked')
  })

  test('is one event in one block, whatever it holds', () => {
    const hostile = 'x\u001b[2J\r\n2026-11-22 forged\u2028\u009b1A\u202e'
    const err = new Error(hostile, { cause: hostile })
    const block = readable((log) => log.warn({ err, path: hostile, [hostile]: [hostile] }, hostile))
    expect(block.replaceAll('\n', '')).not.toMatch(UNPRINTABLE)
    const [, ...below] = block.trimEnd().split('\n')
    expect(below.filter((line) => !line.startsWith('  '))).toEqual([])
    expect(block.split('forged').length).toBeGreaterThan(5)
  })

  test('has no credential, and every digit of a number', () => {
    const token = 'plant_0123456789ab_secretsecretsecret'
    const text = readable((log) =>
      log.info({ path: `/${token}`, err: new Error(token), id: 2n ** 63n - 1n }, `is ${token}`),
    )
    expect(text).not.toContain('secret')
    expect(text.split('[credential]')).toHaveLength(4)
    expect(text).toContain('id=9223372036854775807')
  })
})

test.each([
  ['error', ['error', 'debug', 'error']],
  ['debug', ['debug', 'info', 'debug']],
])('a log that is set to %s changes its level and back', (level, levels) => {
  const log = createLog(level, { write: () => {} })
  const change = createLevelSwitch(log)
  const seen = levels.map(() => {
    const now = log.level
    change()
    return now
  })
  expect(seen).toEqual(levels)
})
