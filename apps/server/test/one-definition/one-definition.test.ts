import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AnyPlant, type Observed, readSentBody, storeInBuiltServer } from './built-pair.ts'
import { contractChanges } from './contract-changes.ts'
import { CLIENT, CONTRACT, copyWorkspace, SERVER, type WorkspaceCopy } from './workspace-copy.ts'

/** Three builds and a server take a few seconds; a machine may have other work. */
const TIMEOUT_MS = 120_000

const fern = { id: -(2n ** 63n), name: 'Fern', tag: 'indoor' }

/** What is to be seen between client and server as long as nothing is changed. */
const unchanged: Observed = {
  request: 'POST /plants',
  credential: 'authorization',
  allow: 'POST',
  statuses: [200, 200, 400],
  refusal: ['conflict', 40003, 'id_taken'],
  largestId: ['stored', 200],
  stored: [fern],
}

let copy: WorkspaceCopy

beforeAll(async () => {
  copy = copyWorkspace()
  expect(await buildAll()).toEqual({ own: [], client: [], server: [] })
}, TIMEOUT_MS)

afterAll(() => copy[Symbol.dispose]())

async function buildAll() {
  const own = await copy.build(CONTRACT)
  const client = await copy.build(CLIENT)
  const server = await copy.build(SERVER).catch((error) => {
    // The page at /docs runs what did not compile, which ends it in any way. No build comes so far.
    if (own.length + client.length > 0) return []
    throw error
  })
  return { own, client, server }
}

async function expectEverybodyFollows(plant: AnyPlant, wire: Partial<Observed>): Promise<void> {
  expect(await storeInBuiltServer(copy, plant)).toEqual({ ...unchanged, ...wire })
}

test('the copy stores a plant as long as nothing is changed', { timeout: TIMEOUT_MS }, async () => {
  await expectEverybodyFollows(fern, {})
})

describe('a change of the contract stops the build, or everybody follows:', () => {
  test.each(contractChanges)('$name', { timeout: TIMEOUT_MS }, async (change) => {
    const { edit, stops = [], fields = {}, wire = {} } = change
    const plant = { ...fern, ...fields }
    copy.edit([edit])
    try {
      const { own, client, server } = await buildAll()
      expect([...own, ...client, ...server]).toEqual(stops)
      if (client.length > 0) return
      expect(await readSentBody(copy, plant)).toEqual(plant)
      if (server.length === 0) await expectEverybodyFollows(plant, wire)
    } finally {
      copy.restore()
    }
  })
})
