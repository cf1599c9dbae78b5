import { errorTable } from '@plant-store/contract'
import { expect, onTestFinished, test } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'
import { startServer } from '../../src/http/server.ts'
import type { CreateOutcome } from '../../src/store/store.ts'
import { createLog } from '../../src/telemetry/log.ts'

test.each([undefined, null, '', 'stored'])(
  'an outcome that no store may have, %j, is answered outcome_unknown and never 200',
  async (outcome) => {
    const lines: string[] = []
    const config = loadConfig({ listen: '127.0.0.1:0', operationsListen: 'off' }, [], {})
    const server = await startServer({
      ...config,
      store: {
        plants: { create: async () => outcome as CreateOutcome },
        isReady: async () => true,
        description: 'plants in a test',
      },
      authenticate: Object.assign(() => ({ id: 'any', name: 'any' }), { isKnown: () => true }),
      log: createLog('info', { write: (line) => void lines.push(line) }),
      shutdownTimeoutMs: 0,
    })
    onTestFinished(() => server.close())
    const response = await fetch(`${server.url}/plants`, {
      method: 'POST',
      headers: { authorization: 'Bearer any', 'content-type': 'application/json' },
      body: '{"id":1,"name":"Fern"}',
    })
    const { code, status } = errorTable.outcome_unknown
    expect([response.status, await response.json()]).toMatchObject([status, { error: code }])
    expect(lines.join('')).toContain('the store has no such outcome')
  },
)
