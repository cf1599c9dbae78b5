import { describe, expect, test } from 'vitest'
import { createOpaqueToken } from '../../src/auth/opaque-token.ts'
import { expectAnswer } from './expectations.ts'
import { useWireServer } from './harness.ts'
import { plantOf, plantText, post } from './request.ts'
import { openSqliteFile } from './store-under-test.ts'

describe('a statement that the database refuses', () => {
  const server = useWireServer()
  const internal = {
    error: 'internal',
    message: /^something went wrong and nothing was stored$/,
  } as const

  test('is an internal error, stores nothing, and is over once its cause is', async () => {
    const { storeUnderTest } = server
    const caller = await server.open()
    await storeUnderTest.execute('ALTER TABLE plants RENAME TO mislaid')
    caller.send(post(plantText(1), { more: ['X-Request-Id: mislaid'] }))
    expectAnswer(await caller.readAnswer(), internal)
    await storeUnderTest.execute('ALTER TABLE mislaid RENAME TO plants')
    await server.expectStoredAndServing([])
    const lines = server.logLines.map((line) => JSON.parse(line))
    expect(lines).toContainEqual(expect.objectContaining({ requestId: 'mislaid', status: 500 }))
  })

  test('is an internal error for a stranger, who learns nothing of it', async () => {
    const { storeUnderTest } = server
    const caller = await server.open()
    const authorization = `Bearer ${createOpaqueToken().text}`
    await storeUnderTest.execute('ALTER TABLE tokens RENAME TO mislaid')
    caller.send(post(plantText(1), { authorization }))
    expectAnswer(await caller.readAnswer(), internal)
    await storeUnderTest.execute('ALTER TABLE mislaid RENAME TO tokens')
    await server.expectStoredAndServing([])
  })
})

describe('a commit that no other process lets through in time', () => {
  const server = useWireServer()

  test('is unavailable, stores nothing, and the next one is stored', async () => {
    const release = await server.storeUnderTest.holdCommits()
    const caller = await server.open()
    caller.send(post(plantText(1)))
    expectAnswer(await caller.readAnswer(), { error: 'unavailable' })
    release()
    await server.expectStoredAndServing([])
    caller.send(post(plantText(1)))
    expectAnswer(await caller.readAnswer(), { plant: { name: plantOf(1).name } })
  })
})

describe('a database that is found corrupt', () => {
  const server = useWireServer({ openStore: openSqliteFile })

  test('leaves the outcome unknown, and nothing more is taken', async () => {
    const caller = await server.open()
    caller.send(post(plantText(1)))
    expectAnswer(await caller.readAnswer(), { plant: { name: plantOf(1).name } })
    await server.storeUnderTest.execute(
      `PRAGMA writable_schema = ON;
       UPDATE sqlite_schema SET sql = 'CREATE TABLE' WHERE name = 'plants';
       PRAGMA schema_version = 9999`,
    )
    caller.send(post(plantText(2)))
    expectAnswer(await caller.readAnswer(), { error: 'outcome_unknown' })
    caller.send(post(plantText(3)))
    expectAnswer(await caller.readAnswer(), { error: 'unavailable' })
  })
})
