import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createOpaqueToken } from '../../src/auth/tokens.ts'
import { expectReply } from '../wire/expectations.ts'
import { tokenRecord, useWireServer } from '../wire/harness.ts'
import { plantOf, plantText, post, request } from '../wire/request.ts'

const server = useWireServer()

/** A caller with a token of its own whose last byte of a good request is still to come. */
async function beginRequest() {
  const { text, id, secretSha256 } = createOpaqueToken()
  const record = tokenRecord({ id, secretSha256, name: 'late' })
  await server.database.withStore(({ tokens }) => tokens.add(record))
  const more = ['Expect: 100-continue']
  const sent = post(plantText(1), { authorization: `Bearer ${text}`, more })
  const caller = await server.open()
  caller.send(sent.subarray(0, -1))
  // The body is asked for once the token was found good.
  expectReply(await caller.readReply(), 'continue')
  return {
    revoke: () => server.database.withStore(({ tokens }) => tokens.revoke(id, Date.now())),
    end() {
      caller.send(sent.subarray(-1))
      return caller.readReply()
    },
  }
}

test('a token that was revoked while the body was on its way stores nothing', async () => {
  const { revoke, end } = await beginRequest()
  await revoke()
  // What the server knows of a token is older than 2.5 s then; after 5 s a silent body is too slow.
  await sleep(3_000)
  expectReply(await end(), { error: 'invalid_token' })
  await server.expectStoredAndServing([])
})

test('a token that is good still stores a plant whose body was long on its way', async () => {
  const { end } = await beginRequest()
  await sleep(1_500)
  expectReply(await end(), { plant: { name: plantOf(1).name } })
  expect(await server.database.readPlants()).toStrictEqual([plantOf(1)])
})

const limited = useWireServer({ failedCredentialLimit: '1' })

test('a token that is new is let in from an address over the limit, once all tokens were read', async () => {
  const { text, id, secretSha256 } = createOpaqueToken()
  const record = tokenRecord({ id, secretSha256, name: 'new' })
  await limited.database.withStore(({ tokens }) => tokens.add(record))
  const ask = async (token: string) =>
    (await limited.ask(request({ authorization: `Bearer ${token}` }))).status
  expect([await ask('x'), await ask('x')]).toEqual([401, 429])
  // They are read every ten seconds.
  await expect.poll(() => ask(text), { timeout: 20_000 }).toBe(200)
})
