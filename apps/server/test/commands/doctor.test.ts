import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { describeTokens } from '../../src/commands/doctor.ts'
import type { Fact } from '../../src/store/engine.ts'
import type { TokenRecord } from '../../src/store/store.ts'
import { MAIN } from '../process/main.ts'
import { unitNodeFlags } from '../process/node-flags.ts'
import { startServerProcess } from '../process/server-process.ts'
import { needsStrace } from '../process/system-calls.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { contentOf, execute, makeStore, spreadPlants, takeSchemaBack } from './plants.ts'
import { runOn } from './program.ts'
import { runShell } from './shell.ts'

const DAY_MS = 86_400_000

async function arrange() {
  const path = join(temporaryFolder(), 'plants.db')
  await makeStore(path, spreadPlants(10))
  return { path, doctor: () => runOn(path, 'doctor') }
}

function factsIn(out: string): Fact[] {
  return out
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

function noteBackup(path: string, ageMs: number): void {
  const finishedAt = new Date(Date.now() - ageMs).toISOString()
  writeFileSync(`${path}.last-backup`, JSON.stringify({ finishedAt }), { mode: 0o600 })
}

test('says what it found, beside a server, and changes nothing', async () => {
  const folder = temporaryFolder()
  const server = await startServerProcess({ folder })
  await server.client.createPlant({ id: 1, name: 'Fern' })
  const { code, out, err } = await runShell(folder, 'server doctor')
  expect({ code, err }).toEqual({
    code: 0,
    err: expect.stringMatching(/^A server can open this store; \d warnings?\.\n$/),
  })
  for (const line of [
    /^version {2}\d+\.\d+\.\d+ on Node\.js \d+\.\d+\.\d+$/m,
    /^store {4}\S+plants\.db$/m,
    /^engine {3}SQLite 3\.\S+, write-ahead log, synchronous=FULL$/m,
    /^sync {5}\d+\.\d{3} ms for a write and its sync \(median of 50\)$/m,
    /^disk {5}[\d,]+ MiB free in \S+data$/m,
    /^schema {3}version 2, the newest$/m,
    /^plants {3}1$/m,
    /^backup {3}none is known\n {2}warning: .*never backed up here\. Try: plant-store-server backup/m,
    /^tokens {3}1 in use$/m,
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
  expect(out).toMatch(/^store +there is none in .*; the server makes it$/m)
  expect(out).not.toContain('tokens')
  expect(readdirSync(folder)).toEqual([])
})

test.each<[string, (path: string) => void, RegExp]>([
  ['damaged', (path) => truncateSync(path, 8_000), /plants\.db is corrupt .*restore BACKUP/],
  [
    'no database',
    (path) => writeFileSync(path, 'seq'.repeat(999)),
    /not a database.*restore BACKUP/,
  ],
  [
    'of another program',
    (path) => execute(path, 'PRAGMA application_id = 1'),
    /database of another program.*another file in PLANT_STORE_DATABASE_URL/,
  ],
])('prints the refusal of a store that is %s, with its fix, and ends with 69', async (...row) => {
  const [, change, refusal] = row
  const { path, doctor } = await arrange()
  change(path)
  const before = readFileSync(path)
  expect(await doctor()).toEqual({ code: 69, out: '', err: expect.stringMatching(refusal) })
  const { code, out } = await runOn(path, 'doctor --json')
  expect(code).toBe(69)
  const refused = { name: 'store', refusal: expect.stringContaining('plants.db') }
  expect(factsIn(out)).toEqual([expect.objectContaining(refused)])
  expect(readFileSync(path)).toEqual(before)
})

test('warns of an older schema, and leaves it as it is', async () => {
  const { path, doctor } = await arrange()
  takeSchemaBack(path)
  const before = contentOf(path)
  const { code, out } = await doctor()
  expect(code).toBe(0)
  expect(out).toMatch(
    /^schema +version 1\n {2}warning: this program has version 2\. Try: plant-store-server migrate/m,
  )
  expect(contentOf(path)).toEqual(before)
  expect(readdirSync(join(path, '..'))).not.toContain('plants.db.schema-1.10')
})

test('prints the same as JSON lines for programs', async () => {
  const { path, doctor } = await arrange()
  const plain = (await doctor()).out
  const { code, out } = await runOn(path, 'doctor --json')
  expect(code).toBe(0)
  expect(factsIn(out).map(({ name }) => name)).toEqual(plain.match(/^\w+(?=\s)/gm))
  for (const fact of factsIn(out)) expect('fix' in fact).toBe('warning' in fact)
})

test('believes the record of the last backup for two days', async () => {
  const { path, doctor } = await arrange()
  noteBackup(path, 1.9 * DAY_MS)
  expect((await doctor()).out).toMatch(/^backup +the last one ended 20\S+$/m)
  noteBackup(path, 9 * DAY_MS)
  expect((await doctor()).out).toMatch(/^ {2}warning: that is 9 days ago\. Try: .* backup FILE/m)
  writeFileSync(`${path}.last-backup`, '{', { mode: 0o600 })
  expect((await doctor()).out).toMatch(/^ {2}warning: this store was never backed up here/m)
})

test.each([
  // The first bytes of what statfs fills in are the kind of the file system.
  ['NFS', '6969000000000000'],
  ['SMB', '424d53fe00000000'],
  ['Ceph', '0064c30000000000'],
])('warns of a file on %s', needsStrace, async (name, bytes) => {
  const { path } = await arrange()
  const fault = `strace -f -o /dev/null -e trace=statfs -e inject=statfs:poke_exit=@arg2=${bytes}`
  const doctor = `'${process.execPath}' '${MAIN}' doctor --database-url sqlite:${path}`
  const { code, out } = await runShell(temporaryFolder(), `${fault} ${doctor}`)
  expect(code).toBe(0)
  expect(out).toContain(`warning: it is on ${name}, where SQLite can lose plants. Try: keep the`)
})

test('says under the permission model that it cannot measure the disk', async () => {
  const { path } = await arrange()
  const flags = unitNodeFlags(join(path, '..')).join(' ')
  const doctor = `'${process.execPath}' ${flags} '${MAIN}' doctor --database-url sqlite:${path}`
  const { code, out } = await runShell(join(path, '..'), doctor)
  expect(code).toBe(0)
  expect(out).toMatch(
    /^sync +not measured\n {2}warning: .*Try: .* without Node's flag --permission/m,
  )
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
  const lines = (tokens: TokenRecord[], takesJwts = false) =>
    describeTokens(tokens, now, takesJwts).map(({ value, warning, fix }) => [value, warning, fix])

  test('that end within 14 days or have just ended are warned of, with the fix', () => {
    expect(lines([token('a', 13), token('b', -1), token('c', 15)])).toEqual([
      ['2 in use', undefined, undefined],
      ['b-id (b)', 'it ended 2026-12-31T00:00:00.000Z', 'plant-store-server token create --name b'],
      ['a-id (a)', 'it ends 2027-01-14T00:00:00.000Z', 'plant-store-server token rotate a-id'],
    ])
  })

  test('that have a successor, were revoked, ended long ago or were made for two days are not', () => {
    const lasting = [token('a', 90), token('d', undefined)]
    const short = { ...token('e', 1), createdAt: now - DAY_MS }
    expect(lines([token('a', 1), ...lasting, token('b', 1, now), token('c', -15), short])).toEqual([
      ['4 in use', undefined, undefined],
    ])
  })

  test('must be there unless JWTs open the service', () => {
    expect(lines([token('a', -30)])).toEqual([
      ['0 in use', 'no token opens the service', 'plant-store-server token create --name NAME'],
    ])
    expect(lines([], true)).toEqual([['0 in use', undefined, undefined]])
  })
})
