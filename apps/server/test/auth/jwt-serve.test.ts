import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runToEnd, startServerProcess } from '../../../../test/server-process.ts'
import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import { arrange, ends } from '../commands/program.ts'
import { Issuer, startIssuer } from './issuer.ts'
import { good, JWT_RULES, someKey } from './jwt-service.ts'

function keyFile(content: string): string {
  const path = join(temporaryFolder(), 'keys.json')
  writeFileSync(path, content)
  return path
}

async function start(places: Record<string, string>) {
  const { folder } = await arrange([])
  const environment = { ...JWT_RULES, ...places }
  return startServerProcess({ folder, environment, token: good({ exp: 4e9 }) })
}

test.each<[claim: string, places: () => Promise<Record<string, string>>]>([
  [
    'in production and with the address of keys',
    async () => ({
      NODE_ENV: 'production',
      PLANT_STORE_JWKS_URL: (await startIssuer(someKey)).url,
    }),
  ],
  [
    'with a file of keys',
    async () => ({ PLANT_STORE_JWKS_FILE: keyFile(new Issuer(someKey).keySet) }),
  ],
])('a server %s needs no token of its own, and makes none', async (_claim, places) => {
  const server = await start(await places())
  expect(await server.client.createPlant({ id: 1, name: 'Fern' })).toEqual({ name: 'Fern' })
  const { code, out } = await server.end()
  expect(code).toBe(0)
  expect(out).not.toContain('plant_')
})

test('a server starts and ends while its issuer does not answer', async () => {
  const server = await start({ PLANT_STORE_JWKS_URL: (await startIssuer(someKey, () => {})).url })
  expect(await server.end()).toMatchObject({ code: 0, signal: null })
})

test.each([
  ['that is not there', () => '/nowhere/keys.json', 'ENOENT'],
  ['that may never end', () => '/dev/zero', 'it is longer than 262144 bytes'],
  ['that is no key set', () => keyFile('{}'), 'it is no JSON Web Key Set'],
  ['without a key', () => keyFile('{"keys":[]}'), 'it has no key that can check a JWT'],
])('a server refuses a file of keys %s', async (_claim, pathOf, problem) => {
  const path = pathOf()
  const environment = {
    ...JWT_RULES,
    PLANT_STORE_JWKS_FILE: path,
    PLANT_STORE_LOG_LEVEL: 'silent',
  }
  const says = `PLANT_STORE_JWKS_FILE: ${path}: ${problem}`
  expect(await runToEnd({ environment })).toMatchObject(ends(78, says))
})
