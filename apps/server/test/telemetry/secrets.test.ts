import { describe, expect, test } from 'vitest'
import { logLinesIn, type ServerProcess } from '../../../../test/server-process.ts'
import { createOpaqueToken } from '../../src/auth/tokens.ts'
import { execute } from '../commands/plants.ts'
import { prepareDatabase, serve } from '../postgres/served-database.ts'
import { usePostgres } from '../postgres/use-postgres.ts'
import { openConnection } from '../wire/raw-socket.ts'
import { type RequestParts, request } from '../wire/request.ts'
import { type OtlpReceiver, startReceiver } from './otlp-receiver.ts'
import { read, startScrapedServer } from './scraped-server.ts'

/** What must never be emitted: each place of a request where a caller may put it has its own. */
const unknownToken = createOpaqueToken().text
const misplacedToken = createOpaqueToken().text
const header = Buffer.from('{"alg":"ES256","typ":"at+jwt"}').toString('base64url')
const jwt = [header, 'eyJtYXJrZWQtcGF5bG9hZA', 'marked-signature'].join('.')
const PLANT_ID = '77001177'

const WELL_FORMED = `{"id":${PLANT_ID},"name":"marked-name","tag":"marked-tag","marked-member":"marked-value"}`

/** In the path, a scheme and a token behind it are no more than in any other text that is logged. */
const escapedToken = `Bearer%20${misplacedToken.replaceAll('_', '%255f')}`

/** The caller's own trace, sampled (https://www.w3.org/TR/trace-context/#traceparent-header). */
const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'
const traceparent = `traceparent: 00-${TRACE_ID}-b7ad6b7169203331-01`
const tracestate = `tracestate: caller=${misplacedToken.toUpperCase()}`

const showing = (token: string): RequestParts => ({ authorization: `Bearer ${token}` })
const at = (target: string, ...more: string[]) => ({ line: `POST ${target} HTTP/1.1`, more })

/** Every way of being refused, each with secrets in it. */
const REFUSED: Readonly<Record<string, RequestParts>> = {
  'an unknown token': showing(unknownToken),
  'a token that is none': showing('marked-short-token'),
  'a JWT': showing(jwt),
  'another scheme': { authorization: 'Basic marked-basic' },
  'two credentials': { more: [`authorization: Bearer ${unknownToken}`] },
  'two hosts': { host: 'marked-host', more: ['host: marked-host'] },
  'a token as the path': at(`/${misplacedToken}`),
  'an escaped token as the path': at(`/${escapedToken}`),
  'a JWT within the path': at(`/plants/${jwt}`),
  'a token in the query': at('/plant?access_token=marked-query'),
  'a token as the request id': at('/x', `x-request-id: ${misplacedToken}`),
  'a JWT as the request id': at('/x', `x-request-id: ${jwt}`),
  'a token in the state of a trace': at('/x', traceparent, tracestate),
  cookies: at('/x', 'cookie: marked-header'),
  'headers about a browser': at('/x', 'user-agent: marked-agent', 'referer: marked-referer'),
  'no JSON': { body: '{"id":1,"name":"marked-malformed' },
  'a lone surrogate': { body: '{"id":1,"name":"marked-name\\ud800"}' },
  'values of other types': {
    body: '{"id":"marked-name","name":["marked-value"],"tag":{"marked-tag":1}}',
  },
  'too long a body': { body: `"${'marked-large'.repeat(10_000)}"` },
  'another content under a taken id': { body: '{"id":2,"name":"marked-name"}' },
  'a header that is none': { more: [`marked-header ${unknownToken}`] },
}

/** Sends a request; its body is a plant full of secrets unless it is given. */
async function send(server: ServerProcess, parts: RequestParts): Promise<string> {
  const caller = await openConnection(server.port)
  caller.send(request({ ...showing(server.token), body: WELL_FORMED, ...parts }))
  const { status, headers, body } = await caller.readReply()
  caller.destroy()
  // A 200 says the plant, to the caller that sent it.
  return status === 200 ? '' : `${status} ${JSON.stringify([...headers])} ${body}`
}

/**
 * Lets requests succeed and fail, the latter by two changes of the database, ends the server, and
 * looks at everything that it emitted; who adds a way out adds it here. Returns the log.
 */
async function expectNoSecret(
  server: ServerProcess,
  receiver: OtlpReceiver,
  change: (sql: string) => unknown,
  [toBreak, toMend]: readonly [string, string],
): Promise<string> {
  await server.client.createPlant({ id: 2n, name: 'Fern' })
  const responses = [await send(server, {}), await send(server, {})]
  for (const sent of Object.values(REFUSED)) responses.push(await send(server, sent))
  await change(toBreak)
  responses.push(await send(server, { body: WELL_FORMED.replace('1', '3') }))
  await change(toMend)
  const metrics = await read(server, 'metrics')
  const { err: log } = await server.end()
  const traces = [...receiver.bodies, JSON.stringify(receiver.headers)].join('\n')

  // Each of them is in the log, in metrics and in traces, so what follows looks at the right thing.
  expect(logLinesIn(log).filter((line) => 'status' in line).length).toBe(responses.length + 2)
  expect(metrics).toContain('plant_store_creates_total{outcome="internal"} 1')
  // All but the one that the parser refuses.
  expect(receiver.spans()).toHaveLength(responses.length + 1 - 1)
  expect(receiver.spans().filter(({ traceId }) => traceId === TRACE_ID)).toHaveLength(1)

  const everything = [...responses, log, metrics, traces].join('\n').toLowerCase()
  const secrets = [unknownToken, misplacedToken, server.token].map((token) => token.slice(19, 62))
  for (const secret of ['marked', 'eyJtYXJrZWQtcGF5bG9hZA', ...secrets]) {
    expect(everything.includes(secret.toLowerCase()), secret).toBe(false)
  }
  for (const secret of [PLANT_ID, server.token.slice(6, 18)]) expect(traces).not.toContain(secret)
  return log
}

const environmentOf = ({ url }: OtlpReceiver) => ({
  PLANT_STORE_LOG_LEVEL: 'trace',
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
})

test('no secret leaves a server over SQLite, whatever fails', async () => {
  const receiver = await startReceiver()
  const server = await startScrapedServer(environmentOf(receiver))
  await expectNoSecret(server, receiver, (sql) => execute(server.path, sql), [
    'ALTER TABLE plants RENAME TO mislaid',
    'ALTER TABLE mislaid RENAME TO plants',
  ])
})

describe('over PostgreSQL', () => {
  const postgres = usePostgres()

  test('no secret leaves a server, though the database reports the failing row', async () => {
    const receiver = await startReceiver()
    const database = await prepareDatabase(await postgres.createDatabase())
    const server = await serve(database, { environment: environmentOf(receiver) })
    const change = (sql: string) => postgres.query(database.databaseUrl, sql)
    const log = await expectNoSecret(server, receiver, change, [
      'ALTER TABLE plants ADD CONSTRAINT few CHECK (id < 77001178)',
      'ALTER TABLE plants DROP CONSTRAINT few',
    ])
    expect(log).toContain('23514')
  })

  test("the database's password leaves a process in no way", async () => {
    const database = await prepareDatabase(await postgres.createDatabase())
    const { hostname, password } = new URL(database.databaseUrl)
    const server = await serve(database, { environment: { PLANT_STORE_LOG_LEVEL: 'trace' } })
    await server.client.createPlant({ id: 1, name: 'Fern' })
    postgres.kill()
    const again = { body: { id: 2, name: 'Fern' } }
    while ((await server.client.rest.createPlant(again)).status === 200);
    const paths = ['metrics', 'about.json', 'readyz']
    const shown = await Promise.all(paths.map((path) => read(server, path)))
    const { out, err } = await server.end()
    await postgres.start()
    expect(err).toMatch(/"status":50[03]/)
    expect(password.length).toBeGreaterThan(3)
    expect(shown[1]).toContain(hostname)
    for (const text of [out, err, ...shown]) {
      for (const secret of [decodeURIComponent(password), password, database.token]) {
        expect(text).not.toContain(secret)
      }
    }
  })
})
