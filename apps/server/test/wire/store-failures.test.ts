import { describe, expect, test } from 'vitest'
import { createOpaqueToken } from '../../src/auth/tokens.ts'
import { expectReply, stored } from './expectations.ts'
import { useWireServer } from './harness.ts'
import { request } from './request.ts'

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
