import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls, TLSSocket } from 'node:tls'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { migratePostgresDatabase } from '../../src/postgres/migrate.ts'
import { openPostgresStore } from '../../src/postgres/postgres.ts'
import { runToEnd } from '../process/server-process.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { addCertificate, createCertificate } from './certificate.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'

const SCRAM = ['--encoding=UTF8', '--locale=C', '--auth=scram-sha-256']

let clear: PostgresServer
let scram: PostgresServer
let databaseUrl: string

beforeAll(async () => {
  clear = await startPostgres(['ssl=on'], { prepare: addCertificate })
  scram = await startPostgres(['ssl=on'], { prepare: addCertificate, initdbFlags: SCRAM })
  databaseUrl = await scram.createDatabase()
  await migratePostgresDatabase(databaseUrl, false)
}, 60_000)
afterAll(async () => {
  await clear?.stop()
  await scram?.stop()
})

async function open(url: string): Promise<void> {
  const store = await openPostgresStore({ databaseUrl: url, allowDataLoss: false })
  await store.close()
}

/** A message of PostgreSQL's protocol: what it is, and its length with itself (§54.7). */
function message(type: string, body: Uint8Array): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + 4)
  return Buffer.concat([Buffer.from(type), length, body])
}

function authentication(code: number, rest = ''): Buffer {
  const number = Buffer.alloc(4)
  number.writeInt32BE(code)
  return message('R', Buffer.concat([number, Buffer.from(rest)]))
}

const OK = authentication(0)
const READY = message('Z', Buffer.from('I'))
const CLEAR_TEXT = authentication(3)
const MD5 = authentication(5, 'salt')
const SASL = authentication(10, 'SCRAM-SHA-256\0\0')

/** A server that sends what it is given, one text after each message, and keeps what it hears. */
async function startThief(...says: Buffer[]): Promise<{ url: string; heard: () => string }> {
  let heard = ''
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    const left = [...says]
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      heard += bytes.toString('latin1')
      const next = left.shift()
      if (next !== undefined) socket.write(next)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as { port: number }
  return { url: `postgres://gardener:h3rbarium@127.0.0.1:${port}/plants`, heard: () => heard }
}

/** The request for TLS, before which a connection of PostgreSQL's says nothing (§54.2.11). */
const TLS_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

/** A thief between the two, who speaks TLS to both and has a certificate of its own. */
async function startMan(port: number): Promise<number> {
  const { certificate: cert, key } = createCertificate()
  const server = createServer(async (caller) => {
    caller.on('error', () => {})
    await once(caller, 'data')
    const onward = connect(port, '127.0.0.1')
    onward.on('error', () => {})
    onward.write(TLS_REQUEST)
    await once(onward, 'data')
    caller.write('S')
    const there = connectTls({ socket: onward, rejectUnauthorized: false })
    const here = new TLSSocket(caller, { isServer: true, cert, key })
    for (const one of [here, there]) one.on('error', () => {})
    here.pipe(there).pipe(here)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return (server.address() as { port: number }).port
}

describe('a server that asks for the password in another way than require_auth says', () => {
  test('is sent the password where nothing is said, which shows what the others keep', async () => {
    const thief = await startThief(CLEAR_TEXT)
    await expect(open(thief.url)).rejects.toThrow()
    expect(thief.heard()).toContain('h3rbarium')
  })

  test.each([
    ['scram-sha-256', 'in clear text', [CLEAR_TEXT]],
    [
      'scram-sha-256',
      'in clear text, and lets everybody in',
      [Buffer.concat([CLEAR_TEXT, OK, READY])],
    ],
    ['!password,!md5', 'in clear text', [CLEAR_TEXT]],
    ['scram-sha-256', 'by MD5', [MD5]],
    ['scram-sha-256,md5', 'in clear text', [CLEAR_TEXT]],
    ['scram-sha-256', 'not at all', [Buffer.concat([OK, READY])]],
    ['scram-sha-256', 'not even by a welcome', [READY]],
    ['scram-sha-256', 'by SCRAM without a proof of its own', [SASL, Buffer.concat([OK, READY])]],
    ['md5', 'by SCRAM', [SASL]],
  ])('is refused with %s and never learns it: %s', async (methods, _how, says) => {
    const thief = await startThief(...says)
    const begin = performance.now()
    await expect(open(`${thief.url}?require_auth=${methods}`)).rejects.toMatchObject({
      name: 'StoreUnavailableError',
      message: expect.stringMatching(/the password was not sent/),
    })
    expect(performance.now() - begin).toBeLessThan(10_000)
    // Neither itself nor what MD5 makes of it.
    expect(thief.heard()).toContain('gardener')
    expect(thief.heard()).not.toMatch(/h3rbarium|md5[0-9a-f]{32}/)
  })

  test('is refused by the environment as well', async () => {
    const thief = await startThief(CLEAR_TEXT)
    const ended = await runToEnd({
      folder: temporaryFolder(),
      environment: { PLANT_STORE_DATABASE_URL: thief.url, PGREQUIREAUTH: 'scram-sha-256' },
    })
    expect(ended).toMatchObject({ code: 69, out: '' })
    expect(ended.err).toMatch(/asked for password, which require_auth forbids/)
    expect(thief.heard()).not.toContain('h3rbarium')
  })
})

describe('a real PostgreSQL', () => {
  test.each([
    'require_auth=scram-sha-256',
    'sslmode=require&channel_binding=require',
    'sslmode=require&channel_binding=require&require_auth=scram-sha-256',
    'sslmode=require&channel_binding=prefer',
    'sslmode=require&channel_binding=disable',
    'sslmode=require&sslnegotiation=direct',
    'sslmode=require&ssl_min_protocol_version=TLSv1.3&ssl_max_protocol_version=TLSv1.3',
    'connect_timeout=4&keepalives=1&keepalives_idle=30&application_name=fern',
    'target_session_attrs=any&gssencmode=prefer&client_encoding=utf8&sslcompression=0',
  ])('is used with %s', async (query) => {
    await open(`${databaseUrl}?${query}`)
  })

  test('is not reached through a man in the middle with channel_binding=require', async () => {
    const man = await startMan(scram.port)
    const through = databaseUrl.replace(`:${scram.port}/`, `:${man}/`)
    // Whoever signed its certificate: this is what channel_binding is for.
    await open(`${through}?sslmode=require`)
    await expect(open(`${through}?sslmode=require&channel_binding=require`)).rejects.toThrow(
      /channel binding/i,
    )
  })

  test.each(['require_auth=scram-sha-256', 'sslmode=require&channel_binding=require'])(
    'that asks for clear text is refused with %s',
    async (query) => {
      await expect(open(`${clear.urlOf('postgres')}?${query}`)).rejects.toMatchObject({
        name: 'StoreUnavailableError',
        message: expect.stringMatching(/password was not sent/),
      })
    },
  )

  test.each([
    ['scram-sha-256', () => databaseUrl],
    ['a password in clear text', () => clear.urlOf('postgres')],
  ])(
    'that asks for %s where there is none is reported at once, with what to do',
    async (_what, urlOf) => {
      const url = new URL(urlOf())
      url.password = ''
      const begin = performance.now()
      const ended = await runToEnd({
        folder: temporaryFolder(),
        environment: { PLANT_STORE_DATABASE_URL: url.href },
      })
      expect(performance.now() - begin).toBeLessThan(10_000)
      expect(ended).toMatchObject({ code: 69, out: '' })
      expect(ended.err).toMatch(/asks for a password and there is none\. Try: .*PGPASSFILE/)
      expect(ended.err).not.toContain('SASL')
    },
  )

  test.each(['PGPASSWORD', 'PGPASSFILE'])('takes the password from %s', async (variable) => {
    const { port, username, password } = new URL(databaseUrl)
    const url = databaseUrl.replace(`:${password}@`, '@')
    const folder = temporaryFolder()
    const path = join(folder, 'passwords')
    const line = `127.0.0.1:${port}:*:${username}:${decodeURIComponent(password)}\n`
    writeFileSync(path, line, { mode: 0o600 })
    const values = { PGPASSWORD: decodeURIComponent(password), PGPASSFILE: path }
    const ended = await runToEnd({
      folder,
      environment: {
        PLANT_STORE_DATABASE_URL: url,
        [variable]: values[variable as keyof typeof values],
      },
      args: ['token', 'list'],
    })
    expect(ended).toMatchObject({ code: 0 })
    expect(ended.err).not.toContain('Warning')
  })
})
