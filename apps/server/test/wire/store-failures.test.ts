import { describe, expect, test } from 'vitest'
import { createOpaqueToken } from '../../src/auth/tokens.ts'
import { makeSqliteFile } from './database-under-test.ts'
import { expectReply, stored } from './expectations.ts'
import { useWireServer } from './harness.ts'
import { plantText, post, request } from './request.ts'

const message = /^something went wrong and nothing was stored$/
const mislaid = 'X-Request-Id: mislaid'

describe('a statement that the database refuses', () => {
  const server = useWireServer()

  test.each([
    ['of a create', 'plants', {}],
    [
      'of a token that it does not know',
      'tokens',
      { authorization: `Bearer ${createOpaqueToken().text}` },
    ],
  ])(
    'is an internal error, stores nothing, and is over once its cause is: %s',
    async (_claim, table, parts) => {
      const { execute } = server.database
      await execute(`ALTER TABLE ${table} RENAME TO mislaid`)
      const response = await server.ask(request({ ...parts, more: [mislaid] }))
      await execute(`ALTER TABLE mislaid RENAME TO ${table}`)
      expectReply(response, { error: 'internal', message })
      await server.expectStoredAndServing([])
      const lines = (await server.readLog()).map((line) => JSON.parse(line))
      expect(lines).toContainEqual(expect.objectContaining({ requestId: 'mislaid', status: 500 }))
    },
  )

  test('is unavailable if it waits for a commit of another process, and stored later', async () => {
    const release = await server.database.holdCommits()
    const caller = await server.open()
    caller.send(request())
    expectReply(await caller.readReply(), { error: 'unavailable' })
    release()
    await server.expectStoredAndServing([])
    caller.send(request())
    expectReply(await caller.readReply(), stored)
  })
})

describe('a database that is found corrupt', () => {
  const server = useWireServer({}, { makeDatabase: makeSqliteFile })

  test('leaves the outcome unknown, and the server ends', async () => {
    const caller = await server.open()
    caller.send(request())
    expectReply(await caller.readReply(), stored)
    await server.database.execute(
      `PRAGMA writable_schema = ON;
       UPDATE sqlite_schema SET sql = 'CREATE TABLE' WHERE name = 'plants';
       PRAGMA schema_version = 9999`,
    )
    caller.send(post(plantText(2)))
    expectReply(await caller.readReply(), { error: 'outcome_unknown' })
    expect(await server.ended).toBe(74)
  })
})
