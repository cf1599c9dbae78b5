import { once } from 'node:events'
import { chmodSync, readdirSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { examineClock } from '../../src/commands/doctor/examine-clock.ts'
import { examineDescriptors, examineNode } from '../../src/commands/doctor/examine-process.ts'
import { examineTokens } from '../../src/commands/doctor/examine-tokens.ts'
import type { HealthCheck } from '../../src/store/health-check.ts'
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
      ...['engine', 'sync', 'disk', 'store', 'schema', 'log', 'permissions', 'backup', 'clock'],
      ...['tokens', 'files', 'node'],
      undefined,
    ])
    for (const line of [
      /^ok {7}engine: SQLite 3\.\S+ write-ahead log and synchronous=FULL hold in/m,
      /^ok {7}store: .* holds 1 plant, undamaged$/m,
      /^ok {7}schema: version 2, the newest$/m,
      /sync: \d+\.\d{3} ms for a write and its sync \(median of 50\)/,
      /^warning {2}backup: this store was never backed up here\. Try: plant-store-server backup FILE/m,
      /^ok {7}tokens: 1 in use, none expires within 14 days$/m,
      /^(?:ok|warning) +files: this user may open \d+, and 10000 connections need 10064/m,
      /^ok {7}node: \d+\.\d+\.\d+/m,
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

  test('prints the same as JSON lines for programs', async () => {
    const { path, doctor } = await arrange()
    const plain = (await doctor()).out
    const { code, out } = await runOn(path, 'doctor --json')
    expect(code).toBe(0)
    const checks: HealthCheck[] = out
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
    expect(checks.map(({ level, subject }) => `${level} ${subject}`)).toEqual(
      plain.match(/^\w+ +\w+/gm)?.map((line) => line.replace(/ +/, ' ')),
    )
    for (const check of checks) expect('fix' in check).toBe(check.level !== 'ok')
  })

  test('believes the record of the last backup for two days', async () => {
    const { path, doctor } = await arrange()
    const record = (ageMs: number) =>
      writeFileSync(
        `${path}.last-backup`,
        JSON.stringify({ finishedAt: new Date(Date.now() - ageMs).toISOString() }),
        { mode: 0o600 },
      )
    record(1.9 * DAY_MS)
    expect((await doctor()).out).toMatch(/^ok {7}backup: the last one ended 20/m)
    record(9 * DAY_MS)
    expect((await doctor()).out).toMatch(
      /^warning {2}backup: .*, 9 days ago\. Try: .* backup FILE/m,
    )
    writeFileSync(`${path}.last-backup`, '{', { mode: 0o600 })
    expect((await doctor()).out).toMatch(/^warning {2}backup: this store was never/m)
  })

  test('warns of a log that grows, and how to find who keeps it', async () => {
    const { path, doctor } = await arrange()
    // A log that nobody has written yet: what follows its header counts for nothing.
    writeFileSync(`${path}-wal`, '', { mode: 0o600 })
    truncateSync(`${path}-wal`, 300 * 1_048_576)
    const { out } = await doctor()
    expect(out).toMatch(/^warning {2}log: 307,200 KiB .*Try: end the reader .*fuser -v \S+-wal/m)
  })
})

describe('tokens', () => {
  const now = Date.UTC(2027, 0)
  const token = (name: string, days: number | undefined, revokedAt?: number): TokenRecord => ({
    id: `${name}-id`,
    name,
    secretSha256: new Uint8Array(32),
    createdAt: now - 90 * DAY_MS,
    expiresAt: days === undefined ? undefined : now + days * DAY_MS,
    revokedAt,
    lastUsedAt: undefined,
  })
  const details = (tokens: TokenRecord[]) =>
    examineTokens(tokens, now).map(({ level, detail }) => `${level} ${detail}`)

  test('that end within 14 days or have just ended are warned of, with the fix', () => {
    const [ended, soon] = examineTokens([token('a', 13), token('b', -1), token('c', 15)], now)
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

  test('that were made for two days or less are meant to end', () => {
    const short = { ...token('a', 1), createdAt: now - DAY_MS }
    expect(details([short])).toEqual(['ok 1 in use, none expires within 14 days'])
    expect(details([{ ...short, createdAt: now - 1.1 * DAY_MS }])).toEqual([
      'warning a-id (a) expires 2027-01-02T00:00Z',
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

test('the clock of a database elsewhere counts in both directions', () => {
  const now = Date.UTC(2027, 0)
  expect(examineClock(now, [], now + 299_000)).toMatchObject({ level: 'ok' })
  expect(examineClock(now, [], now + 600_000)).toMatchObject({
    level: 'warning',
    detail: expect.stringContaining('10 minutes earlier than the clock of the database'),
  })
  expect(examineClock(now, [], now - 600_000)).toMatchObject({
    level: 'warning',
    detail: expect.stringContaining('10 minutes later than the clock of the database'),
  })
})

describe('the process', () => {
  test('may open a file for each connection, and 64 of its own', () => {
    expect(examineDescriptors(100, 164)).toMatchObject({ level: 'ok' })
    expect(examineDescriptors(100, 163)).toMatchObject({
      level: 'warning',
      fix: 'LimitNOFILE=164 in a systemd unit, or ulimit -n 164 where it is started',
    })
    expect(examineDescriptors(100)).toMatchObject({ detail: expect.stringMatching(/need 164$/) })
  })

  test.each([
    ['24.21.0', 2027, 'ok'],
    ['24.21.0', 2029, 'warning'],
    ['25.9.0', 2027, 'warning'],
    ['28.0.0', 2027, 'ok'],
  ])('of Node.js %s in %i: %s', (version, year, level) => {
    expect(examineNode(Date.UTC(year, 0), version)).toMatchObject({ level })
  })
})
