import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { createServer as createTcpServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { needs } from '../../../packages/client/runtimes/needs.ts'
import { findOnPath } from '../../../packages/client/runtimes/runtimes.ts'
import { runProgram, startProgram } from './helpers/program.ts'
import { startRawServer } from './helpers/raw-server.ts'
import { startServer } from './helpers/server.ts'
import { makeTemporaryFolder } from './helpers/temporary-folder.ts'

function environmentOf({ url, token = 'any' }: { url: string; token?: string }) {
  return { HOME: '/nonexistent', PLANT_STORE_BASE_URL: url, PLANT_STORE_TOKEN: token }
}

/** A reply as HTTP/1.1 has it. */
function reply(status: number, body: string, type = 'application/json'): string {
  return `HTTP/1.1 ${status} X\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`
}

describe('create', () => {
  test('stores a plant with every digit of its id, and reports it in one sentence', async () => {
    const server = await startServer()
    const env = environmentOf(server)
    const args = ['create', '9007199254740993', 'Fern', '--tag', 'indoor']
    expect(await runProgram(args, { env })).toEqual({
      code: 0,
      stdout: 'Stored 9007199254740993 "Fern" (indoor).\n',
      stderr: '',
    })
    expect(await runProgram(args, { env })).toEqual({
      code: 0,
      stdout: '9007199254740993 "Fern" (indoor) was there already.\n',
      stderr: '',
    })
    expect(server.readPlants()).toEqual(
      new Map([[9007199254740993n, { name: 'Fern', tag: 'indoor' }]]),
    )
  })

  test('takes every id of int64, and names and tags that look like flags', async () => {
    const server = await startServer()
    const env = environmentOf(server)
    const commands = [
      ['-5', 'Moss'],
      ['-9223372036854775808', 'least'],
      ['9223372036854775807', 'greatest'],
      ['1', '--', '--tag'],
      ['--tag=-x', '2', ''],
      ['3', 'no tag', '--tag', ''],
      ['--', '-6', '-7'],
    ]
    for (const words of commands) {
      expect(await runProgram(['create', ...words], { env })).toMatchObject({ code: 0, stderr: '' })
    }
    expect(server.readPlants()).toEqual(
      new Map([
        [-5n, { name: 'Moss', tag: null }],
        [-9223372036854775808n, { name: 'least', tag: null }],
        [9223372036854775807n, { name: 'greatest', tag: null }],
        [1n, { name: '--tag', tag: null }],
        [2n, { name: '', tag: '-x' }],
        [3n, { name: 'no tag', tag: '' }],
        [-6n, { name: '-7', tag: null }],
      ]),
    )
  })

  test.each(['9223372036854775808', 'seven', '1.5', '1e3', ''])(
    'rejects the id "%s" and sends nothing',
    async (id) => {
      const server = await startRawServer(() => '')
      const result = await runProgram(['create', id, 'Fern'], { env: environmentOf(server) })
      expect(result).toMatchObject({ code: 3, stdout: '' })
      expect(result.stderr).toContain(`${id} was not stored: `)
      expect(server.received()).toBe('')
    },
  )

  test('reports an outcome that is not known as such, and to send it again', async () => {
    const server = await startRawServer(() => '')
    const env = environmentOf(server)
    const result = await runProgram(['create', '5', 'Fern'], { env })
    expect(result).toMatchObject({ code: 5, stdout: '' })
    expect(result.stderr).toMatch(/^plant-store: 5 may have been stored: /)
    expect(result.stderr).toContain(
      'Try: the same command again; a plant that is there is not stored twice',
    )
  }, 60_000)

  test('takes the token from a file', async () => {
    const server = await startServer()
    const path = join(makeTemporaryFolder(), 'token')
    writeFileSync(path, `${server.token}\r\n`)
    const args = ['create', '5', 'Fern', '--base-url', server.url, '--token-file', path]
    expect(await runProgram(args, { env: { HOME: '/nonexistent' } })).toMatchObject({ code: 0 })
    const lacking = [...args.slice(0, -1), `${path}x`]
    expect(await runProgram(lacking, { env: { HOME: '/nonexistent' } })).toMatchObject({ code: 2 })
  })

  test('lets no text of a server control the terminal or begin a line', async () => {
    const message = '\\u001b[2J\\u009b31m\\r\\nplant-store: stored\\u202e\\n  Try: rm'
    const server = await startRawServer(() => reply(400, `{"error":40002,"message":"${message}"}`))
    const args = ['create', '5', 'Fern\n\u001b[31m']
    const { code, stdout, stderr } = await runProgram(args, { env: environmentOf(server) })
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
      const secure = createServer(
        { key: readFileSync(key), cert: readFileSync(certificate) },
        (_, response) => response.writeHead(401).end(),
      )
      await new Promise<void>((resolve) => secure.listen(0, resolve))
      onTestFinished(() => void secure.close())
      const { port } = secure.address() as { port: number }
      const env = environmentOf({ url: `https://localhost:${port}` })
      const refused = await runProgram(['create', '5', 'Fern'], { env })
      expect(refused).toMatchObject({ code: 5, stdout: '' })
      expect(refused.stderr).toMatch(/5 was not stored: .*\n {2}Try: NODE_EXTRA_CA_CERTS=FILE/)
      const trusting = { ...env, NODE_EXTRA_CA_CERTS: certificate }
      const trusted = await runProgram(['create', '5', 'Fern'], { env: trusting })
      expect(trusted.stderr).not.toContain('NODE_EXTRA_CA_CERTS')
    },
  )

  test('ends by SIGINT with 130 and says that the plant may be stored', async () => {
    const silent = createTcpServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => child.kill('SIGINT'))
    })
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void silent.close())
    const { port } = silent.address() as { port: number }
    const env = environmentOf({ url: `http://127.0.0.1:${port}` })
    const child = startProgram(['create', '5', 'Fern'], { env })
    const [[code], stderr] = await Promise.all([once(child, 'close'), text(child.stderr)])
    expect(code).toBe(130)
    expect(stderr).toContain('5 may have been stored: the call was aborted')
  })
})
