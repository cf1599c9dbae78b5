import type { NewPlant } from '@plant-store/contract'
import { expect, onTestFinished, test } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'
import { startServer } from '../../src/http/server.ts'
import { GroupCommit } from '../../src/store/group-commit.ts'
import {
  type CreateOutcome,
  createOutcomes,
  OutcomeUnknownError,
  type PlantStore,
} from '../../src/store/store.ts'
import { createLog } from '../../src/telemetry/log.ts'

/** Sends one plant to a server over these plants, and gives the status and the error code. */
async function sendTo(plants: PlantStore) {
  const flags = { listen: '127.0.0.1:0', operationsListen: 'off', shutdownTimeoutMs: '100' }
  const config = loadConfig(flags, {})
  const store = {
    plants,
    isReady: async () => true,
    countPlants: async () => 0,
    description: 'plants in a test',
  }
  const server = await startServer(config, store, {
    authenticate: Object.assign(() => ({ id: '1', name: 'test' }), { isKnown: () => true }),
    log: createLog('silent'),
  })
  onTestFinished(() => server.close())
  const response = await fetch(`${server.url}/plants`, {
    method: 'POST',
    headers: { authorization: 'Bearer any', 'content-type': 'application/json' },
    body: '{"id":1,"name":"Fern"}',
  })
  return { status: response.status, ...((await response.json()) as object) }
}

test.each<[what: string, outcomes: (batch: readonly unknown[]) => unknown]>([
  ['none at all', () => undefined],
  ['one too few', (batch) => batch.slice(1).map(() => 'created')],
  ['one too many', (batch) => [...batch, 0].map(() => 'created')],
  ['undefined', (batch) => batch.map(() => undefined)],
  ['holes', (batch) => new Array(batch.length)],
  ['an unknown word', (batch) => batch.map(() => 'stored')],
])('a commit whose outcomes are %s stores no item', async (_what, outcomes) => {
  const group = new GroupCommit<NewPlant, CreateOutcome>({
    commit: async (batch) => outcomes(batch) as CreateOutcome[],
    outcomes: createOutcomes,
  })
  const results = await Promise.allSettled(
    [1n, 2n, 3n].map((id) => group.add({ id, name: 'Fern' })),
  )
  const rejected = { status: 'rejected', reason: expect.any(OutcomeUnknownError) }
  expect(results).toEqual([rejected, rejected, rejected])
})

test.each([undefined, null, 'stored', 0])(
  'the outcome %s of a store is never 200',
  async (said) => {
    const create = async () => said as never
    expect(await sendTo({ create })).toMatchObject({ status: 500, error: 50001 })
  },
)
