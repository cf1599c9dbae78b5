import { describe, expect, test, vi } from 'vitest'
import { createLevelSwitch, createLog } from '../../src/operations/log.ts'
import { post } from '../process/server-process.ts'
import { openConnection } from '../wire/raw-socket.ts'
import { type MeasuredServer, startMeasuredServer } from './measured-server.ts'

// Processes and disks of a machine that is busy with other tests take their time.
vi.setConfig({ testTimeout: 60_000 })

/** A log that writes into a list. */
function logInto(lines: string[], level = 'info') {
  return createLog(level, { write: (line) => void lines.push(line) })
}

/** Sends the bytes of a request, given as latin1, and gives the lines that were logged for it. */
async function logLinesOf(server: MeasuredServer, head: string): Promise<string[]> {
  server.logLines.length = 0
  const caller = await openConnection(server.port)
  caller.send(Buffer.from(`${head}\r\nhost: x\r\nconnection: close\r\n\r\n`, 'latin1'))
  await caller.readToEnd()
  return [...server.logLines]
}

/** Anything but printable ASCII, letters and symbols: what could move a cursor or end a line. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

describe('a line for each request', () => {
  test('that succeeded is there at debug, with where the time went', async () => {
    const server = await startMeasuredServer({ tokenName: 'greenhouse' })
    await server.client.createPlant({ id: 1, name: 'Fern' })
    expect(server.logLines.map((line) => JSON.parse(line))).toEqual([
      {
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
      },
    ])
    const { durationMs, waitMs, commitMs } = JSON.parse(server.logLines[0] ?? '')
    expect(waitMs).toBeGreaterThanOrEqual(0)
    expect(commitMs).toBeGreaterThan(0)
    expect(waitMs + commitMs).toBeLessThanOrEqual(durationMs)
  })

  test('that failed is there at info, with its number and its name', async () => {
    const server = await startMeasuredServer()
    await (await post(server, { body: '{}' })).text()
    expect(server.logLines.map((line) => JSON.parse(line))).toEqual([
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
    const server = await startMeasuredServer()
    const caller = await openConnection(server.port)
    caller.send(
      `POST /plants HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${server.token}\r\n` +
        'content-type: application/json\r\nexpect: 100-continue\r\ncontent-length: 9\r\n\r\n',
    )
    await caller.readReply({ hasBody: false })
    caller.reset()
    while (server.logLines.length === 0) await new Promise(setImmediate)
    expect(JSON.parse(server.logLines[0] ?? '')).toMatchObject({
      level: 'debug',
      tokenName: 'greenhouse',
      msg: 'the caller went away',
    })
  })
})

describe('what a caller sends', () => {
  test('in the path stays within one line', async () => {
    const server = await startMeasuredServer()
    for (const path of [
      '/plants%0a{"level":"fatal"}',
      '/%1b[2J%1b[31mred',
      '/"},{"level":"fatal\\',
      '/%e2%80%a8{"level":"fatal"}',
    ]) {
      const lines = await logLinesOf(server, `GET ${path} HTTP/1.1`)
      expect(lines, path).toHaveLength(1)
      expect(lines[0]?.trimEnd()).not.toMatch(UNPRINTABLE)
      expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'info', status: 401, path })
    }
  })

  test.each([
    ['a raw carriage return', 'GET /a\rb HTTP/1.1'],
    ['a raw escape', 'GET /\x1b[2J HTTP/1.1'],
    ['a raw C1 control sequence introducer', 'GET /\x9b2J HTTP/1.1'],
    ['the raw bytes of U+2028', 'GET /\xe2\x80\xa8 HTTP/1.1'],
    ['a method of its own', 'F\x1bG / HTTP/1.1'],
  ])('with %s never becomes a request, and is logged without its bytes', async (_what, head) => {
    const lines = await logLinesOf(await startMeasuredServer(), head)
    expect(lines).toHaveLength(1)
    expect(lines[0]?.trimEnd()).not.toMatch(UNPRINTABLE)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ status: 400, error: 'malformed_request' })
  })

  test('as a path of 15 KB is cut to 256 characters, and its query left out', async () => {
    const server = await startMeasuredServer()
    const [line = ''] = await logLinesOf(server, `GET /${'p'.repeat(15_000)}?secret=1 HTTP/1.1`)
    expect(JSON.parse(line).path).toBe(`/${'p'.repeat(255)}…`)
    expect(line.length).toBeLessThan(1_000)
    const [short = ''] = await logLinesOf(server, 'GET /path?secret=1 HTTP/1.1')
    expect(JSON.parse(short).path).toBe('/path')
  })

  test('as a request id is logged only where it is plain', async () => {
    const server = await startMeasuredServer()
    const [given = ''] = await logLinesOf(server, 'GET / HTTP/1.1\r\nx-request-id: plain-1')
    expect(JSON.parse(given).requestId).toBe('plain-1')
    const [made = ''] = await logLinesOf(server, 'GET / HTTP/1.1\r\nx-request-id: a\xe2\x80\xa8b')
    expect(JSON.parse(made).requestId).toMatch(/^[0-9a-f-]{36}$/)
  })
})

test('a token name of any characters stays within one line', async () => {
  const tokenName = 'green\nhouse\u2028\u001b[31m\u202e'
  const server = await startMeasuredServer({ tokenName })
  await server.client.createPlant({ id: 1, name: 'Fern' })
  expect(server.logLines[0]?.trimEnd()).not.toMatch(UNPRINTABLE)
  expect(JSON.parse(server.logLines[0] ?? '')).toMatchObject({ tokenName })
})

test('an error is logged with its causes, and without what a driver adds to it', () => {
  const lines: string[] = []
  const cause = Object.assign(new Error('inner'), { code: '23514', detail: 'row (1, marked)' })
  logInto(lines).error({ err: new TypeError('outer', { cause }) }, 'failed')
  const { err } = JSON.parse(lines[0] ?? '')
  expect(err).toMatchObject({ message: 'outer', cause: { message: 'inner', code: '23514' } })
  expect(err.stack).toContain('log.test.ts')
  expect(lines[0]).not.toContain('marked')
})

test.each([
  ['info', ['info', 'debug', 'info']],
  ['error', ['error', 'debug', 'error']],
  ['debug', ['debug', 'info', 'debug']],
  ['trace', ['trace', 'info', 'trace']],
])('a log that is set to %s changes its level and back', (level, levels) => {
  const log = logInto([], level)
  const change = createLevelSwitch(log)
  const seen = levels.map(() => {
    const now = log.level
    change()
    return now
  })
  expect(seen).toEqual(levels)
})
