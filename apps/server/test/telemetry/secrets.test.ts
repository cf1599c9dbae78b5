import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { describe, expect, test, vi } from 'vitest'
import { createOpaqueToken } from '../../src/auth/tokens.ts'
import { prepareDatabase, serve } from '../postgres/served-database.ts'
import { usePostgres } from '../postgres/use-postgres.ts'
import { logLinesIn, type ServerProcess } from '../process/server-process.ts'
import { openConnection } from '../wire/raw-socket.ts'
import { type RequestParts, request } from '../wire/request.ts'
import { startScrapedServer } from './scraped-server.ts'

// Processes and disks of a machine that is busy with other tests take their time.
vi.setConfig({ testTimeout: 60_000 })

/** What must never be emitted: each place of a request where a caller may put it has its own. */
const unknownToken = createOpaqueToken().text
const misplacedToken = createOpaqueToken().text
const header = Buffer.from('{"alg":"ES256","typ":"at+jwt"}').toString('base64url')
const jwt = [header, 'eyJtYXJrZWQtcGF5bG9hZA', 'marked-signature'].join('.')
const SECRETS = {
  name: 'marked-name',
  tag: 'marked-tag',
  member: 'marked-member',
  value: 'marked-value',
  malformed: 'marked-malformed',
  large: 'marked-large',
  header: 'marked-header',
  basic: 'marked-basic',
  query: 'marked-query',
  shortToken: 'marked-short-token',
  unknownToken,
  misplacedToken,
  jwt,
} as const

const WELL_FORMED = JSON.stringify({
  id: 1,
  name: SECRETS.name,
  tag: SECRETS.tag,
  [SECRETS.member]: SECRETS.value,
})

const LOG_ALL = { PLANT_STORE_LOG_LEVEL: 'trace' }

interface Sent extends RequestParts {
  readonly target?: string
  readonly token?: string
}

/** Every way of being refused, each with secrets in it. */
const REFUSED: Readonly<Record<string, Sent>> = {
  'an unknown token': { token: unknownToken },
  'a token that is none': { token: SECRETS.shortToken },
  'a JWT': { token: jwt },
  'another scheme': { authorization: `Basic ${SECRETS.basic}` },
  'two credentials': { more: [`authorization: Bearer ${unknownToken}`] },
  'a token as the path': { target: `/${misplacedToken}` },
  'a JWT within the path': { target: `/plants/${jwt}` },
  'a token in the query': { target: `/plant?access_token=${SECRETS.query}` },
  'a token as the request id': { target: '/x', more: [`x-request-id: ${misplacedToken}`] },
  'a scheme and a token as the request id': {
    target: '/x',
    more: [`x-request-id: Bearer_${misplacedToken}`],
  },
  'a token in other letters as the request id': {
    target: '/x',
    more: [`x-request-id: ${misplacedToken.toUpperCase()}`],
  },
  'a JWT as the request id': { target: '/x', more: [`x-request-id: ${jwt}`] },
  'a header line as the path': { target: `/Bearer%20${misplacedToken}` },
  'a token behind other words': { target: `/access_${misplacedToken}` },
  'a token behind a mark': { target: `/token%3D${misplacedToken}` },
  'a token with percent-encoded marks': { target: `/${misplacedToken.replaceAll('_', '%5F')}` },
  'a token that is percent-encoded twice': {
    target: `/${misplacedToken.replaceAll('_', '%255f')}`,
  },
  'a token with escapes of JSON': { target: `/${misplacedToken.replace('p', '\\u0070')}` },
  'headers of its own': { target: '/x', more: [`cookie: ${SECRETS.header}`] },
  'no JSON': { body: `{"id":1,"name":"${SECRETS.malformed}` },
  'a lone surrogate': { body: `{"id":1,"name":"${SECRETS.name}\\ud800"}` },
  'values of other types': {
    body: `{"id":"${SECRETS.name}","name":["${SECRETS.value}"],"tag":{"${SECRETS.tag}":1}}`,
  },
  'too long a body': { body: `"${SECRETS.large.repeat(10_000)}"` },
  'another content under a taken id': { body: `{"id":2,"name":"${SECRETS.name}"}` },
  'a header that is none': { more: [`${SECRETS.header} ${unknownToken}`] },
}

/** Sends a request; its body is a plant full of secrets unless it is given. */
async function send(server: ServerProcess, sent: Sent): Promise<string> {
  const caller = await openConnection(server.port)
  const { target = '/plants', token = server.token } = sent
  const line = `POST ${target} HTTP/1.1`
  caller.send(request({ line, authorization: `Bearer ${token}`, body: WELL_FORMED, ...sent }))
  const { status, headers, body } = await caller.readReply()
  caller.destroy()
  // A 200 says the plant, to the caller that sent it.
  return status === 200 ? '' : `${status} ${JSON.stringify([...headers])} ${body}`
}

/** Everything that a server emits of a run, until its end: who adds a way out adds it here. */
interface Emitted {
  readonly replies: string[]
  readonly log: string
  readonly metrics: string
}

async function emitAll(
  server: ServerProcess,
  breakStore: () => Promise<() => Promise<void>>,
): Promise<Emitted> {
  await server.client.createPlant({ id: 2n, name: 'Fern' })
  const replies = [await send(server, {}), await send(server, {})]
  for (const sent of Object.values(REFUSED)) replies.push(await send(server, sent))
  const fix = await breakStore()
  replies.push(await send(server, { body: WELL_FORMED.replace('1', '3') }))
  await fix()
  const metrics = await (await fetch(`${server.operationsUrl}/metrics`)).text()
  return { replies, log: (await server.end()).err, metrics }
}

function expectNoSecret(server: ServerProcess, { replies, log, metrics }: Emitted): void {
  expect(replies).toHaveLength(2 + Object.keys(REFUSED).length + 1)
  // Each of them is in the log, so what follows looks at the right thing.
  expect(logLinesIn(log).filter((line) => 'status' in line).length).toBe(replies.length + 2)
  expect(metrics).toContain('plant_store_creates_total{outcome="internal"} 1')
  const everything = [...replies, log, metrics].join('\n')
  const secret = /_([\w-]{43})/
  for (const [place, marker] of Object.entries({ ...SECRETS, own: server.token })) {
    const part = secret.exec(marker)?.[1] ?? marker
    expect(everything.includes(part) || everything.includes(part.toUpperCase()), place).toBe(false)
  }
}

test('no secret leaves a server over SQLite, whatever fails', async () => {
  const server = await startScrapedServer(LOG_ALL)
  const other = new DatabaseSync(join(server.folder, 'plants.db'), { timeout: 10_000 })
  const emitted = await emitAll(server, async () => {
    other.exec('ALTER TABLE plants RENAME TO mislaid')
    return async () => other.exec('ALTER TABLE mislaid RENAME TO plants')
  })
  expectNoSecret(server, emitted)
  other.close()
})

describe('over PostgreSQL', () => {
  const postgres = usePostgres()

  test('no secret leaves a server, though the database reports the failing row', async () => {
    const database = await prepareDatabase(await postgres.createDatabase())
    const server = await serve(database, { environment: LOG_ALL })
    const other = new pg.Client(database.databaseUrl)
    await other.connect()
    const emitted = await emitAll(server, async () => {
      await other.query('ALTER TABLE plants ADD CONSTRAINT few CHECK (id < 3)')
      return async () => void (await other.query('ALTER TABLE plants DROP CONSTRAINT few'))
    })
    await other.end()
    expectNoSecret(server, emitted)
    expect(emitted.log).toContain('23514')
  })

  test("the database's password leaves a process in no way", async () => {
    const database = await prepareDatabase(await postgres.createDatabase())
    const { password } = new URL(database.databaseUrl)
    const server = await serve(database, { environment: LOG_ALL })
    await server.client.createPlant({ id: 1, name: 'Fern' })
    postgres.kill()
    const again = { body: { id: 2, name: 'Fern' } }
    while ((await server.client.rest.createPlant(again)).status === 200);
    const metrics = await (await fetch(`${server.operationsUrl}/metrics`)).text()
    const { out, err } = await server.end()
    await postgres.start()
    expect(err).toMatch(/"status":50[03]/)
    expect(password.length).toBeGreaterThan(3)
    for (const text of [out, err, metrics]) {
      expect(text).not.toContain(decodeURIComponent(password))
      expect(text).not.toContain(password)
      expect(text).not.toContain(database.token)
    }
  })
})
