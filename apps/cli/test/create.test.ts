import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { createServer as createTcpServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { needs } from '../../../packages/client/runtimes/needs.ts'
import { findOnPath } from '../../../packages/client/runtimes/runtimes.ts'
import { runProgram, startProgram } from './helpers/program.ts'
import { listen, startRawServer } from './helpers/raw-server.ts'
import { startServer } from './helpers/server.ts'
import { makeTemporaryFolder } from './helpers/temporary-folder.ts'

function environmentOf({ url, token = 'any' }: { url: string; token?: string }) {
  return { HOME: '/nonexistent', PLANT_STORE_BASE_URL: url, PLANT_STORE_TOKEN: token }
}

test('stores a plant with every digit of its id, and reports it in one sentence', async () => {
  const server = await startServer()
  const env = environmentOf(server)
  const args = ['create', '9007199254740993', 'Fern', '--tag', 'indoor']
  const stored = { code: 0, stdout: 'Stored 9007199254740993 "Fern" (indoor).\n', stderr: '' }
  expect(await runProgram(args, { env })).toEqual(stored)
  const stdout = '9007199254740993 "Fern" (indoor) was there already.\n'
  expect(await runProgram(args, { env })).toEqual({ ...stored, stdout })
  const plants = server.readPlants()
  expect(plants).toEqual(new Map([[9007199254740993n, { name: 'Fern', tag: 'indoor' }]]))
})

test('takes every id of int64, and names and tags that look like flags', async () => {
  const server = await startServer()
  const env = environmentOf(server)
  const rows: [words: string[], id: bigint, name: string, tag: string | null][] = [
    [['-5', 'Moss'], -5n, 'Moss', null],
    [['-9223372036854775808', 'least'], -9223372036854775808n, 'least', null],
    [['9223372036854775807', 'greatest'], 9223372036854775807n, 'greatest', null],
    [['1', '--', '--tag'], 1n, '--tag', null],
    [['--tag=-x', '2', ''], 2n, '', '-x'],
    [['3', 'no tag', '--tag', ''], 3n, 'no tag', ''],
    [['--', '-6', '-7'], -6n, '-7', null],
  ]
  for (const [words] of rows) {
    expect(await runProgram(['create', ...words], { env })).toMatchObject({ code: 0, stderr: '' })
  }
  expect(server.readPlants()).toEqual(new Map(rows.map(([, id, name, tag]) => [id, { name, tag }])))
})

test.each(['9223372036854775808', 'seven', '1.5', '1e3', ''])(
  'rejects the id "%s" and sends nothing',
  async (id) => {
    const server = await startRawServer('')
    const result = await runProgram(['create', id, 'Fern'], { env: environmentOf(server) })
    const stderr = expect.stringContaining(`${id} was not stored: `)
    expect(result).toEqual({ code: 3, stdout: '', stderr })
    expect(server.received()).toBe('')
  },
)

test('reports an outcome that is not known as such, and to send it again', async () => {
  const env = environmentOf(await startRawServer(''))
  const { code, stdout, stderr } = await runProgram(['create', '5', 'Fern'], { env })
  expect([code, stdout]).toEqual([5, ''])
  expect(stderr).toMatch(/^plant-store: 5 may have been stored: /)
  expect(stderr).toContain('Try: the same command again; a plant that is there is not stored twice')
})

test('takes the token from a file', async () => {
  const server = await startServer()
  const path = join(makeTemporaryFolder(), 'token')
  writeFileSync(path, `${server.token}\r\n`)
  for (const [file, code] of [
    [path, 0],
    [`${path}x`, 2],
  ] as const) {
    const args = ['create', '5', 'Fern', '--base-url', server.url, '--token-file', file]
    expect(await runProgram(args, { env: { HOME: '/nonexistent' } })).toMatchObject({ code })
  }
})

test('lets no text of a server control the terminal or begin a line', async () => {
  const message = '\\u001b[2J\\u009b31m\\r\\nplant-store: stored\\u202e\\n  Try: rm'
  const body = `{"error":40002,"message":"${message}"}`
  const head = `HTTP/1.1 400 X\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`
  const env = environmentOf(await startRawServer(`${head}\r\nConnection: close\r\n\r\n${body}`))
  const { code, stdout, stderr } = await runProgram(['create', '5', 'Fern\n\u001b[31m'], { env })
  expect(code).toBe(3)
  expect(stdout + stderr).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/)
  expect(stderr.trimEnd().split('\n').length).toBe(1)
})

test(
  'says how to trust a certificate that is not trusted, and takes one that is',
  needs('openssl', findOnPath('openssl') !== undefined),
  async () => {
    const folder = makeTemporaryFolder()
    const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
    const subject = '-subj /CN=localhost -addext subjectAltName=DNS:localhost'
    const flags = `req -x509 -newkey rsa:2048 -nodes -days 1 -keyout ${key} -out ${certificate}`
    execFileSync('openssl', `${flags} ${subject}`.split(' '), { stdio: 'ignore' })
    const files = { key: readFileSync(key), cert: readFileSync(certificate) }
    const port = await listen(createServer(files, (_, response) => response.writeHead(401).end()))
    const env = environmentOf({ url: `https://localhost:${port}` })
    const refused = await runProgram(['create', '5', 'Fern'], { env })
    const stderr = expect.stringMatching(/5 was not stored: .*\n {2}Try: NODE_EXTRA_CA_CERTS=FILE/)
    expect(refused).toEqual({ code: 5, stdout: '', stderr })
    const trusting = { ...env, NODE_EXTRA_CA_CERTS: certificate }
    const trusted = await runProgram(['create', '5', 'Fern'], { env: trusting })
    expect(trusted.stderr).toContain('401')
  },
)

test('ends by SIGINT with 130 and says that the plant may be stored', async () => {
  const silent = createTcpServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => child.kill('SIGINT'))
  })
  const env = environmentOf({ url: `http://127.0.0.1:${await listen(silent)}` })
  const child = startProgram(['create', '5', 'Fern'], { env })
  const [[code], stderr] = await Promise.all([once(child, 'close'), text(child.stderr)])
  expect(code).toBe(130)
  expect(stderr).toContain('5 may have been stored: the call was aborted')
})
