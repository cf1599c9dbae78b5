import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync, truncateSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { examineClock } from '../../src/commands/doctor/examine-clock.ts'
import { examineTokens } from '../../src/commands/doctor/examine-tokens.ts'
import type { TokenRecord } from '../../src/store/store.ts'
import { startServerProcess } from '../process/server-process.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { makeStore, spreadPlants, takeSchemaBack } from './plants.ts'
import { runOn } from './program.ts'
import { runShell } from './shell.ts'

const DAY_MS = 86_400_000

async function arrange() {
  const folder = temporaryFolder()
  const path = join(folder, 'plants.db')
  await makeStore(path, spreadPlants(10))
  return { path, doctor: () => runOn(path, 'doctor') }
}

describe('doctor', () => {
  test('ends with 75 on a signal while an issuer does not answer', async () => {
    const { path } = await arrange()
    const issuer = createServer()
    onTestFinished(() => void issuer.close().closeAllConnections())
    await once(issuer.listen(0, '127.0.0.1'), 'listening')
    const stop = new AbortController()
    issuer.on('request', () => stop.abort('SIGTERM'))
    const { port } = issuer.address() as AddressInfo
    const jwts = `--jwt-issuer issuer --jwt-audience plants --jwks-url http://127.0.0.1:${port}/keys`
    expect(await runOn(path, `doctor ${jwts}`, { stop: stop.signal })).toMatchObject({
      code: 75,
      err: expect.stringContaining('stopped before'),
    })
  })

  test('checks each promise on a line, beside a server, and changes nothing', async () => {
    const folder = temporaryFolder()
    const server = await startServerProcess({ folder })
    await server.client.createPlant({ id: 1, name: 'Fern' })
    const { code, out } = await runShell(folder, 'server doctor')
    expect(code).toBe(0)
    expect(out.split('\n').map((line) => /^\S+ +(\w+)/.exec(line)?.[1])).toEqual([
      ...['engine', 'store', 'schema', 'log', 'permissions', 'sync', 'disk', 'clock', 'tokens'],
      undefined,
    ])
    for (const line of [
      /^ok {7}engine: SQLite 3\.\S+ write-ahead log and synchronous=FULL hold in/m,
      /^ok {7}store: .* holds 1 plant, undamaged$/m,
      /^ok {7}schema: version 2, the newest$/m,
      /sync: \d+\.\d{3} ms for a write and its sync \(median of 50\)/,
      /^ok {7}tokens: 1 in use, none expires within 14 days$/m,
    ]) {
      expect(out).toMatch(line)
    }
    const files = ['plants.db', 'plants.db-shm', 'plants.db-wal']
    expect(readdirSync(join(folder, 'data')).toSorted()).toEqual(files)
  })

  test('looks at the folder where there is no store yet, and makes none', async () => {
    const folder = temporaryFolder()
    const { code, out } = await runOn(join(folder, 'a/b/plants.db'), 'doctor')
    expect(code).toBe(0)
    expect(out).toContain('store: there is none in')
    expect(readdirSync(folder)).toEqual([])
  })

  test('reports a damaged store as a failure, and ends with 1', async () => {
    const { path, doctor } = await arrange()
    truncateSync(path, 8_000)
    const { code, out, err } = await doctor()
    expect(code).toBe(1)
    expect(out).toMatch(/^failure {2}store: .*plants\.db (?:is corrupt|cannot be read).* Try: /m)
    expect(err).toContain('1 failure: see the lines above')
  })

  test('warns of an older schema and of a file that others may change', async () => {
    const { path, doctor } = await arrange()
    chmodSync(path, 0o666)
    takeSchemaBack(path)
    const { code, out } = await doctor()
    expect(code).toBe(0)
    expect(out).toMatch(/^warning {2}schema: version 1; this program has 2\. Try: plant-store-s/m)
    expect(out).toMatch(
      /^warning {2}permissions: .*plants\.db has mode 666: other users can change it\. Try: chmod 600 /m,
    )
  })

  test('reports a folder where nothing can be written', async () => {
    const folder = join(temporaryFolder(), 'full')
    mkdirSync(folder)
    const { code, out } = await runShell(
      folder,
      'ulimit -f 0; server doctor --database-url sqlite:plants.db 2> /dev/null | cat',
    )
    expect(code).toBe(1)
    expect(out).toMatch(/^failure {2}engine: /m)
    expect(out).toMatch(/^failure {2}sync: cannot write in .*EFBIG/m)
  })
})

describe('tokens', () => {
  const now = Date.UTC(2027, 0)
  const token = (name: string, days: number | undefined, revokedAt?: number): TokenRecord => ({
    id: `${name}-id`,
    name,
    secretSha256: new Uint8Array(32),
    createdAt: now - DAY_MS,
    expiresAt: days === undefined ? undefined : now + days * DAY_MS,
    revokedAt,
    lastUsedAt: undefined,
  })
  const details = (tokens: TokenRecord[]) =>
    examineTokens(tokens, now).map(({ level, detail }) => `${level} ${detail}`)

  test('that end within 14 days or have just ended are warned of, with the fix', () => {
    const [soon, ended] = examineTokens([token('a', 13), token('b', -1), token('c', 15)], now)
    expect(soon).toEqual({
      level: 'warning',
      subject: 'tokens',
      detail: 'a-id (a) expires 2027-01-14T00:00Z',
      fix: expect.stringContaining('token rotate a-id'),
    })
    expect(ended).toMatchObject({
      detail: 'b-id (b) expired 2026-12-31T00:00Z',
      fix: expect.stringContaining('token create --name b'),
    })
  })

  test('that have a successor, were revoked or ended long ago are not', () => {
    const lasting = [token('a', 90), token('d', undefined)]
    expect(details([token('a', 1), ...lasting, token('b', 1, now), token('c', -15)])).toEqual([
      'ok 3 in use, none expires within 14 days',
    ])
  })

  test('that do not open the service are warned of', () => {
    expect(details([token('a', -30)])).toEqual(['warning no token opens the service'])
  })

  test('need not be there where JWTs open the service', () => {
    expect(examineTokens([], now, true)).toMatchObject([{ level: 'ok' }])
    expect(examineTokens([], now)).toMatchObject([{ level: 'warning' }])
  })
})

describe('the clock', () => {
  const now = Date.UTC(2027, 0)

  test.each([
    ['in order', now, [now - 1], 'ok'],
    ['a little behind another machine', now, [now + 60_000], 'ok'],
    ['behind what the store has seen', now, [now + 3_600_000], 'warning'],
    ['never set', 0, [], 'failure'],
  ])('%s', (_how, time, recorded, level) => {
    expect(examineClock(time, recorded)).toMatchObject({ level })
  })
})
