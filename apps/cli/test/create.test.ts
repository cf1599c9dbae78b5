import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { createServer as createTcpServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { createCertificate, needsOpenssl } from '../../../test/certificate.ts'
import { listen } from '../../../test/listen.ts'
import { startRestartableServer as startServer } from '../../../test/restartable-server.ts'
import { temporaryFolder } from '../../../test/temporary-folder.ts'
import { ends, runProgram, startProgram } from './helpers/program.ts'
import { startRawServer } from './helpers/raw-server.ts'

const CREATE = ['create', '5', 'Fern']

function at({ url, token = 'any' }: { url: string; token?: string }) {
  return { env: { HOME: '/nonexistent', PLANT_STORE_BASE_URL: url, PLANT_STORE_TOKEN: token } }
}

test('stores a plant with every digit of its id, and reports it in one sentence', async () => {
  const server = await startServer()
  const args = ['create', '9007199254740993', 'Fern', '--tag', 'indoor']
  const stored = { code: 0, stdout: 'Stored 9007199254740993 "Fern" (indoor).\n', stderr: '' }
  expect(await runProgram(args, at(server))).toEqual(stored)
  const stdout = '9007199254740993 "Fern" (indoor) was there already.\n'
  expect(await runProgram(args, at(server))).toEqual({ ...stored, stdout })
  const plants = new Map([[9007199254740993n, { name: 'Fern', tag: 'indoor' }]])
  expect(server.readPlants()).toEqual(plants)
})

test('takes every id of int64, and names and tags that look like flags', async () => {
  const server = await startServer()
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
    expect(await runProgram(['create', ...words], at(server))).toEqual(ends(0, 'Stored', /^$/))
  }
  expect(server.readPlants()).toEqual(new Map(rows.map(([, id, name, tag]) => [id, { name, tag }])))
})

test.each(['9223372036854775808', 'seven', '1.5', '1e3', ''])(
  'rejects the id "%s" and sends nothing',
  async (id) => {
    const server = await startRawServer('')
    const ended = await runProgram(['create', id, 'Fern'], at(server))
    expect(ended).toEqual(ends(3, /^$/, `${id} was not stored: `))
    expect(server.received()).toBe('')
  },
)

test('reports an outcome that is not known as such, and to send it again', async () => {
  const ended = await runProgram(CREATE, at(await startRawServer('')))
  expect(ended).toEqual(ends(5, /^$/, /^plant-store: 5 may have been stored: /))
  expect(ended.stderr).toContain(
    'the same command again; a plant that is there is not stored twice',
  )
})

test('takes the token from a file', async () => {
  const server = await startServer()
  const file = join(temporaryFolder(), 'token')
  const run = (path: string) =>
    runProgram([...CREATE, '--base-url', server.url, '--token-file', path])
  writeFileSync(file, `${server.token}\r\n`)
  expect(await run(file)).toEqual(ends(0))
  for (const none of [`${file}x`, '/dev/zero']) expect(await run(none)).toEqual(ends(2))
  writeFileSync(file, 'wrong')
  expect(await run(file)).toEqual(ends(4, '', `Try: ${file} with a token that is valid`))
})

test('lets no text of a server control the terminal or begin a line', async () => {
  const message = '\\u001b[2J\\u009b31m\\r\\nplant-store: stored\\u202e\\n  Try: rm'
  const body = `{"error":40002,"message":"${message}"}`
  const head = `HTTP/1.1 400 X\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`
  const server = await startRawServer(`${head}\r\nConnection: close\r\n\r\n${body}`)
  const { code, stdout, stderr } = await runProgram(['create', '5', 'F\n\u001b[31m'], at(server))
  expect(code).toBe(3)
  expect(stdout + stderr).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/)
  expect(stderr.trimEnd().split('\n').length).toBe(1)
})

test(
  'says how to trust a certificate, that it has another name, and that there is no TLS',
  needsOpenssl,
  async () => {
    const files = createCertificate('DNS:localhost')
    const certificate = join(temporaryFolder(), 'certificate.pem')
    writeFileSync(certificate, files.cert)
    const port = await listen(createServer(files, (_, response) => response.writeHead(401).end()))
    const plain = await startServer()
    for (const [url, trusted, said] of [
      [`https://localhost:${port}`, '', /5 was not stored: .*\n {2}Try: NODE_EXTRA_CA_CERTS=FILE/],
      [`https://localhost:${port}`, certificate, 'with status 401'],
      [`https://127.0.0.1:${port}`, certificate, 'Try: a URL with the name that the certificate'],
      [plain.url.replace('http', 'https'), '', 'Try: http:// in place of https://'],
    ] as const) {
      const env = { ...at({ url }).env, NODE_EXTRA_CA_CERTS: trusted }
      expect((await runProgram(CREATE, { env })).stderr).toMatch(said)
    }
  },
)

test('ends by SIGINT with 130 and says that the plant may be stored', async () => {
  const silent = createTcpServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => child.kill('SIGINT'))
  })
  const child = startProgram(CREATE, at({ url: `http://127.0.0.1:${await listen(silent)}` }))
  const [[code], stderr] = await Promise.all([once(child, 'close'), text(child.stderr)])
  expect(code).toBe(130)
  expect(stderr).toContain('5 may have been stored: the call was aborted')
})
