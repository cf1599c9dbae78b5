import { describe, expect, test } from 'vitest'
import { createOpaqueToken } from '../../src/auth/tokens.ts'
import { makeSqliteFile } from './database-under-test.ts'
import { expectReply } from './expectations.ts'
import { useWireServer } from './harness.ts'
import { plantOf, plantText, post } from './request.ts'

describe('a statement that the database refuses', () => {
  const server = useWireServer()
  const internal = {
    error: 'internal',
    message: /^something went wrong and nothing was stored$/,
  } as const

  test('is an internal error, stores nothing, and is over once its cause is', async () => {
    const { database } = server
    const caller = await server.open()
    await database.execute('ALTER TABLE plants RENAME TO mislaid')
    caller.send(post(plantText(1), { more: ['X-Request-Id: mislaid'] }))
    expectReply(await caller.readReply(), internal)
    await database.execute('ALTER TABLE mislaid RENAME TO plants')
    await server.expectStoredAndServing([])
    const lines = (await server.readLog()).map((line) => JSON.parse(line))
    expect(lines).toContainEqual(expect.objectContaining({ requestId: 'mislaid', status: 500 }))
  })

  test('is an internal error for a stranger, who learns nothing of it', async () => {
    const { database } = server
    const caller = await server.open()
    const authorization = `Bearer ${createOpaqueToken().text}`
    await database.execute('ALTER TABLE tokens RENAME TO mislaid')
    caller.send(post(plantText(1), { authorization }))
    expectReply(await caller.readReply(), internal)
    await database.execute('ALTER TABLE mislaid RENAME TO tokens')
    await server.expectStoredAndServing([])
  })
})

describe('a commit that no other process lets through in time', () => {
  const server = useWireServer()

  test('is unavailable, stores nothing, and the next one is stored', async () => {
    const release = await server.database.holdCommits()
    const caller = await server.open()
    caller.send(post(plantText(1)))
    expectReply(await caller.readReply(), { error: 'unavailable' })
    release()
    await server.expectStoredAndServing([])
    caller.send(post(plantText(1)))
    expectReply(await caller.readReply(), { plant: { name: plantOf(1).name } })
  })
})

describe('a database that is found corrupt', () => {
  const server = useWireServer({}, { makeDatabase: makeSqliteFile })

  test('leaves the outcome unknown, and the server ends', async () => {
    const caller = await server.open()
    caller.send(post(plantText(1)))
    expectReply(await caller.readReply(), { plant: { name: plantOf(1).name } })
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
