import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { logLinesIn, startServerProcess } from '../../../../test/server-process.ts'
import { describeTokens } from '../../src/commands/doctor.ts'
import type { TokenRecord } from '../../src/store/store.ts'
import { needsStrace } from '../process/system-calls.ts'
import { tokenRecord } from '../wire/harness.ts'
import { contentOf, execute, takeSchemaBack } from './plants.ts'
import { arrange, ends } from './program.ts'

const DAY_MS = 86_400_000

test('says what it found, beside a server, and changes nothing', async () => {
  const { folder, at, shell } = await arrange()
  const server = await startServerProcess({ folder })
  await server.client.createPlant({ id: 1, name: 'Fern' })
  const { code, out, err } = await shell('server doctor')
  expect(code).toBe(0)
  expect(err).toMatch(/^A server can open this store; \d warnings?\.\n$/)
  for (const line of [
    /^version {2}\d+\.\d+\.\d+ on Node\.js \d+\.\d+\.\d+$/m,
    /^store {4}\S+plants\.db$/m,
    /^engine {3}SQLite 3\.\S+, write-ahead log, synchronous=FULL$/m,
    /^disk {5}[\d,]+ MiB free in \S+data$/m,
    /^schema {3}version 2, the newest$/m,
    /^plants {3}1$/m,
    /^backup {3}none is known\n {2}warning: .*never backed up here\. Try: plant-store-server backup/m,
    /^tokens {3}1 in use$/m,
  ]) {
    expect(out).toMatch(line)
  }
  const files = ['plants.db', 'plants.db-shm', 'plants.db-wal']
  expect(readdirSync(at('data')).toSorted()).toEqual(files)
})

test('looks at the folder where there is no store yet, and makes none', async () => {
  const { folder, shell } = await arrange()
  const { code, out } = await shell('server doctor')
  expect(code).toBe(0)
  expect(out).toMatch(/^store +there is none in .*; the server makes it$/m)
  expect(out).not.toContain('tokens')
  expect(readdirSync(folder)).toEqual([])
})

const FOREIGN = /database of another program.*another file in PLANT_STORE_DATABASE_URL/
const NO_DATABASE = /not a database.*restore BACKUP/

test.each<[what: string, change: (path: string) => void, refusal: RegExp]>([
  ['damaged', (path) => truncateSync(path, 8_000), /plants\.db is corrupt .*restore BACKUP/],
  ['no database', (path) => writeFileSync(path, 'seq'.repeat(999)), NO_DATABASE],
  ['of another program', (path) => execute(path, 'PRAGMA application_id = 1'), FOREIGN],
])('prints the refusal of a store that is %s, with its fix, and ends with 69', async (...row) => {
  const [, change, refusal] = row
  const { path, run } = await arrange(10)
  change(path)
  const before = readFileSync(path)
  expect(await run('doctor')).toEqual(ends(69, refusal, ''))
  const { code, out } = await run('doctor --json')
  expect(code).toBe(69)
  const refused = { name: 'store', refusal: expect.stringContaining('plants.db') }
  expect(logLinesIn(out)).toEqual([expect.objectContaining(refused)])
  expect(readFileSync(path)).toEqual(before)
})

test('warns of an older schema, and leaves it as it is', async () => {
  const { path, at, run } = await arrange(10)
  takeSchemaBack(path)
  const before = contentOf(path)
  const warned =
    /^schema +version 1\n {2}warning: this program has version 2\. Try: plant-store-server migrate/m
  expect(await run('doctor')).toEqual(ends(0, '', expect.stringMatching(warned)))
  expect(contentOf(path)).toEqual(before)
  expect(readdirSync(at('data'))).not.toContain('plants.db.schema-1.10')
})

test('prints the same as JSON lines for programs', async () => {
  const { run } = await arrange(10)
  const plain = (await run('doctor')).out
  const { code, out } = await run('doctor --json')
  expect(code).toBe(0)
  expect(logLinesIn(out).map(({ name }) => name)).toEqual(plain.match(/^\w+(?=\s)/gm))
  for (const fact of logLinesIn(out)) expect('fix' in fact).toBe('warning' in fact)
})

test('believes the record of the last backup for two days', async () => {
  const { path, run } = await arrange(10)
  const endedAgo = (days: number) => {
    const finishedAt = new Date(Date.now() - days * DAY_MS).toISOString()
    return JSON.stringify({ finishedAt })
  }
  for (const [note, says] of [
    [endedAgo(1.9), /^backup +the last one ended 20\S+$/m],
    [endedAgo(9), /^ {2}warning: that is 9 days ago\. Try: .* backup FILE/m],
    ['{', /^ {2}warning: this store was never backed up here/m],
  ] as const) {
    writeFileSync(`${path}.last-backup`, note, { mode: 0o600 })
    expect((await run('doctor')).out).toMatch(says)
  }
})

test.each([
  // The first bytes of what statfs fills in are the kind of the file system.
  ['it is on NFS, where SQLite can lose plants. Try: keep the', '6969000000000000'],
  ['it is on SMB, where SQLite can lose plants. Try: keep the', '424d53fe00000000'],
  ['it is on Ceph, where SQLite can lose plants. Try: keep the', '0064c30000000000'],
  ['this is memory, which a power cut empties. Try: keep the', '9419020100000000'],
])('warns of the place of a file: %s', needsStrace, async (warning, bytes) => {
  const { shell } = await arrange(10)
  const inject = `-e trace=statfs -e inject=statfs:poke_exit=@arg2=${bytes}`
  const { code, out } = await shell('server doctor', `strace -f -o /dev/null ${inject}`)
  expect(code).toBe(0)
  expect(out).toContain(`warning: ${warning}`)
})

describe('tokens', () => {
  const now = Date.UTC(2027, 0)
  const createdAt = now - 90 * DAY_MS
  const token = (name: string, days: number, revokedAt?: number) =>
    tokenRecord({ id: `${name}-id`, name, createdAt, expiresAt: now + days * DAY_MS, revokedAt })
  const short = { ...token('e', 1), createdAt: now - DAY_MS }
  const lasting = [token('a', 90), { ...token('d', 0), expiresAt: undefined }]
  const inUse = (count: number) => [`${count} in use`, undefined, undefined]

  test.each<[claim: string, tokens: TokenRecord[], takesJwts: boolean, lines: unknown[]]>([
    [
      'that end within 14 days or have just ended are warned of, with the fix',
      [token('a', 13), token('b', -1), token('c', 15)],
      false,
      [
        inUse(2),
        [
          'b-id (b)',
          'it ended 2026-12-31T00:00:00.000Z',
          'plant-store-server token create --name b',
        ],
        ['a-id (a)', 'it ends 2027-01-14T00:00:00.000Z', 'plant-store-server token rotate a-id'],
      ],
    ],
    [
      'that have a successor, were revoked, ended long ago or were made for two days are not',
      [token('a', 1), ...lasting, token('b', 1, now), token('c', -15), short],
      false,
      [inUse(4)],
    ],
    [
      'must be there',
      [token('a', -30)],
      false,
      [['0 in use', 'no token opens the service', 'plant-store-server token create --name NAME']],
    ],
    ['need not where JWTs open the service', [], true, [inUse(0)]],
  ])('%s', (_claim, tokens, takesJwts, lines) => {
    const described = describeTokens(tokens, now, takesJwts)
    expect(described.map(({ value, warning, fix }) => [value, warning, fix])).toEqual(lines)
  })
})
