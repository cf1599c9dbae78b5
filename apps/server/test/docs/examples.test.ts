import { join } from 'node:path'
import { type ErrorName, errorTable } from '@plant-store/contract'
import { describe, expect, test } from 'vitest'
import { readRoot } from '../../../../test/root.ts'
import { startServerProcess } from '../../../../test/server-process.ts'
import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import { createOpaqueToken } from '../../src/auth/tokens.ts'
import { execute } from '../commands/plants.ts'
import { headerOf } from '../wire/expectations.ts'
import { useWireServer } from '../wire/harness.ts'
import type { Reply } from '../wire/raw-socket.ts'
import { plantText, post, type RequestParts, request } from '../wire/request.ts'

type Examples = Readonly<Record<string, { readonly value: unknown }>>

const { paths, components } = JSON.parse(readRoot('packages/contract/openapi.json'))
const { requestBody, responses } = paths['/plants'].post
const bodies: Examples = requestBody.content['application/json'].examples

function answerExample(status: number, name: string): unknown {
  const examples: Examples = responses[status].content['application/json'].examples
  return examples[name]?.value
}

const seen = new Set<string>()

function expectExample(name: ErrorName, { status, body }: Pick<Reply, 'status' | 'body'>): void {
  expect(status).toBe(errorTable[name].status)
  expect(JSON.parse(body)).toEqual(answerExample(status, name))
  seen.add(name)
}

const fern = JSON.stringify(bodies.withTag?.value)
const wrongToken = { authorization: `Bearer ${createOpaqueToken().text}` }

describe('an example of the document is what the server answers:', () => {
  const server = useWireServer()
  const hasty = useWireServer({ requestTimeoutMs: '200' })
  const strict = useWireServer({ failedCredentialLimit: '1' })
  const full = useWireServer({ requestLimit: '1' })
  const rated = useWireServer({ rateLimit: '10' })

  test.each(Object.entries(bodies))('the plant %s, again as well', async (name, { value }) => {
    for (let count = 0; count < 2; count++) {
      const { status, body } = await server.ask(post(JSON.stringify(value)))
      expect([status, JSON.parse(body)]).toEqual([200, answerExample(200, name)])
    }
  })

  test.each<[error: ErrorName, parts: RequestParts]>([
    ['malformed_request', { host: null }],
    ['malformed_json', { body: '{' }],
    ['invalid_plant', { body: '{"id":9223372036854775808}' }],
    ['missing_credentials', { authorization: null }],
    ['invalid_token', wrongToken],
    ['not_found', { line: 'POST /plants/ HTTP/1.1' }],
    ['method_not_allowed', { line: 'PUT /plants HTTP/1.1' }],
    ['body_too_large', { body: plantText(1).padStart(65_537) }],
    ['unsupported_media_type', { contentType: 'text/plain' }],
    ['expectation_failed', { more: ['Expect: sunshine'] }],
    ['headers_too_large', { more: [`a: ${'a'.repeat(17_000)}`] }],
  ])('%s', async (name, parts) => {
    expectExample(name, await server.ask(request(parts)))
  })

  test('id_taken', async () => {
    await server.ask(post(fern))
    expectExample('id_taken', await server.ask(post(fern.replace('Fern', 'Moss'))))
  })

  test('internal', async () => {
    await server.database.execute('ALTER TABLE plants RENAME TO mislaid')
    const response = await server.ask(post(fern))
    await server.database.execute('ALTER TABLE mislaid RENAME TO plants')
    expectExample('internal', response)
  })

  test('the challenge', async () => {
    const { example } = components.headers['WWW-Authenticate']
    expect(headerOf(await server.ask(request(wrongToken)), 'www-authenticate')).toBe(example)
  })

  test('request_timeout', async () => {
    expectExample('request_timeout', await hasty.ask('POST'))
  })

  test('too_many_requests', async () => {
    const sent = request({ authorization: null })
    await strict.ask(sent)
    expectExample('too_many_requests', await strict.ask(sent))
  })

  test('unavailable', async () => {
    const release = await full.database.holdCommits()
    const responses = [1, 2, 3, 4].map((id) => full.ask(post(plantText(id))))
    // The others wait for their commit.
    const first = await Promise.race(responses)
    release()
    await Promise.all(responses)
    expectExample('unavailable', first)
  })

  test('the rate of a token', async () => {
    const response = await rated.ask(post(fern))
    for (const name of ['RateLimit', 'RateLimit-Policy']) {
      expect(headerOf(response, name.toLowerCase())).toBe(components.headers[name].example)
    }
  })

  test('outcome_unknown, after which the server ends', async () => {
    const folder = temporaryFolder()
    const broken = await startServerProcess({ folder })
    await broken.client.createPlant({ id: 1, name: 'Fern' })
    execute(
      join(folder, 'data/plants.db'),
      `PRAGMA writable_schema = ON;
       UPDATE sqlite_schema SET sql = 'CREATE TABLE' WHERE name = 'plants';
       PRAGMA schema_version = 9999`,
    )
    const answer = await broken.client.rest.createPlant({ body: { id: 2, name: 'Fern' } })
    expectExample('outcome_unknown', { status: answer.status, body: JSON.stringify(answer.body) })
    expect((await broken.ended).code).toBe(74)
  })
})

test('every error was seen above', () => {
  expect([...seen].sort()).toEqual(Object.keys(errorTable).sort())
})
