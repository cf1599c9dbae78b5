import { describe, expect, test } from 'vitest'
import { copyWorkspace } from './workspace-copy.ts'

/** Each test runs the compiler three times; this is many times what that takes. */
const TIMEOUT_MS = 60_000

const SERVER_STORE = 'apps/server/src/store/sqlite/plants.ts'
const SERVER_ANSWER = 'apps/server/src/http/answer.ts'
const SERVER_HANDLER = 'apps/server/src/plants.ts'
const CLIENT = 'packages/client/src/client.ts'
const CLIENT_ERRORS = 'packages/client/src/errors.ts'
const CALLER = 'packages/client/test/caller.ts'

/** A program of a caller, which names the fields of a plant as well. */
const CALLER_SOURCE = `
import { createPlantStoreClient } from '../src/index.ts'
const client = createPlantStoreClient({ baseUrl: 'http://127.0.0.1:3000', token: 'token' })
const { name, tag } = await client.createPlant({ id: 7, name: 'Fern', tag: 'shade' })
export { name, tag }
`

interface Change {
  readonly claim: string
  readonly file: string
  readonly from: string
  readonly to: string
  readonly breaks: readonly string[]
}

const CHANGES: readonly Change[] = [
  {
    claim: 'another name for the name of a plant breaks the server, the client and its callers',
    file: 'plant.ts',
    from: 'name: text',
    to: 'title: text',
    breaks: [SERVER_STORE, CLIENT, CALLER],
  },
  {
    claim: 'another name for the id of a plant breaks the server, the client and its callers',
    file: 'plant.ts',
    from: '{ id, ...Plant.shape }',
    to: '{ number: id, ...Plant.shape }',
    breaks: [SERVER_HANDLER, SERVER_STORE, CLIENT, CALLER],
  },
  {
    claim: 'another status for success breaks the server and the client',
    file: 'contract.ts',
    from: '200: Plant',
    to: '201: Plant',
    breaks: [SERVER_HANDLER, CLIENT],
  },
  {
    claim: 'another name for the operation breaks the server and the client',
    file: 'contract.ts',
    from: 'createPlant: {',
    to: 'addPlant: {',
    breaks: [SERVER_HANDLER, CLIENT],
  },
  {
    claim: 'another name for the message of an Error breaks the server and the client',
    file: 'error.ts',
    from: 'message: z.string(',
    to: 'reason: z.string(',
    breaks: [SERVER_ANSWER, CLIENT_ERRORS],
  },
  {
    claim: 'another name for an error in the table breaks the server',
    file: 'error.ts',
    from: 'id_taken:',
    to: 'id_in_use:',
    breaks: [SERVER_HANDLER],
  },
]

describe('in the type check of the other packages', () => {
  test('nothing is broken where the contract is as it is', { timeout: TIMEOUT_MS }, async () => {
    using copy = copyWorkspace()
    copy.write(CALLER, CALLER_SOURCE)
    expect(await copy.buildContract()).toBe('')
    expect(await copy.findBrokenFiles()).toEqual([])
  })

  test.each(CHANGES)('$claim', { timeout: TIMEOUT_MS }, async ({ file, from, to, breaks }) => {
    using copy = copyWorkspace()
    copy.write(CALLER, CALLER_SOURCE)
    copy.changeContract(file, from, to)
    // The change itself is sound: only what the OpenAPI document tells of the contract notices it.
    const errors = await copy.buildContract()
    expect(errors.replace(/^(?:src\/openapi\S+ error| ).*\n/gm, '')).toBe('')
    expect(await copy.findBrokenFiles()).toEqual(expect.arrayContaining([...breaks]))
  })
})
