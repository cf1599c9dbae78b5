import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { clients, missingOf } from './clients.ts'
import { describeClient, installGenerator } from './describe-client.ts'

const folder = mkdtempSync(join(tmpdir(), 'plant-store-generator-'))
let environment: Record<string, string> = {}

beforeAll(async () => {
  const isUsed = clients.some((client) => client.usesSetup && missingOf(client).length === 0)
  if (isUsed) environment = await installGenerator(folder)
})
afterAll(() => rmSync(folder, { recursive: true }))

for (const client of clients) describeClient(client, () => environment)
