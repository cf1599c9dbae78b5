import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openSqliteStore } from '../../src/sqlite/store.ts'
import { runProgram } from '../commands/program.ts'
import { runShell } from '../commands/shell.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { openSession, WAITING_FOR_A_LOCK, waitForRow } from './sessions.ts'
import { usePostgres } from './use-postgres.ts'

const postgres = usePostgres()

async function run(databaseUrl: string, ...args: string[]) {
  return runProgram([...args, '--database-url', databaseUrl])
}

async function migratedDatabase(): Promise<string> {
  const databaseUrl = await postgres.createDatabase()
  expect((await run(databaseUrl, 'migrate')).code).toBe(0)
  return databaseUrl
}

/** A SQLite store with plants of every kind, ids all over int64. */
async function makeSqliteStore(path: string, plants: number): Promise<void> {
  const store = await openSqliteStore({ path })
  const creates = Array.from({ length: plants }, (_, index) => {
    const id = BigInt.asIntN(64, BigInt(index + 1) * 0x9e3779b97f4a7c15n)
    const name = `plant, "${index}"\n🌿`
    const tags = [undefined, '', `tag ${index}`]
    return store.plants.create({ id, name, tag: tags[index % 3] })
  })
  await Promise.all(creates)
  await store.close()
}

describe('migrate', () => {
  test('makes the schema once, however many programs run it', async () => {
    const databaseUrl = await postgres.createDatabase()
    const runs = await Promise.all([1, 2, 3].map(() => run(databaseUrl, 'migrate')))
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0])
    const migrated = runs.filter(({ err }) => err.includes('migrated from schema version 0'))
    expect(migrated).toHaveLength(1)
  })

  test('that waits for another one ends when it is asked to', async () => {
    const databaseUrl = await postgres.createDatabase()
    const other = await openSession(databaseUrl)
    await other.query('SELECT pg_advisory_lock($1)', [0x504c4e54])
    const stop = new AbortController()
    const args = ['migrate', '--database-url', databaseUrl]
    const ended = runProgram(args, { stop: stop.signal })
    await waitForRow(await openSession(databaseUrl), WAITING_FOR_A_LOCK)
    stop.abort('SIGTERM')
    expect(await ended).toMatchObject({
      code: 75,
      err: expect.stringContaining('Try: the same command again'),
    })
  })

  test('is asked for by every command that finds no schema', async () => {
    const databaseUrl = await postgres.createDatabase()
    for (const args of [['token', 'list'], ['export'], ['serve']]) {
      const { code, err } = await run(databaseUrl, ...args)
      expect({ args, code }).toEqual({ args, code: 69 })
      expect(err).toContain('Try: plant-store-server migrate')
    }
  })
})

describe('export', () => {
  test('of 20,000 plants is the same from PostgreSQL as from SQLite, in bounded memory', async () => {
    const folder = temporaryFolder()
    const source = `sqlite:${join(folder, 'plants.db')}`
    await makeSqliteStore(join(folder, 'plants.db'), 20_000)
    const target = await migratedDatabase()
    const before = await run(source, 'export')
    const rows = `[${before.out.trim().split('\n').join(',').replaceAll("'", "''")}]`
    await postgres.query(
      target,
      `INSERT INTO plants SELECT * FROM jsonb_to_recordset('${rows}') AS (id bigint, name text, tag text)`,
    )
    const after = await runShell(folder, `server export --database-url '${target}'`)
    expect(after).toMatchObject({ code: 0 })
    expect(after.peakMemoryMiB).toBeLessThan(200)
    expect(after.out.split('\n')).toHaveLength(20_001)
    expect(after.out === before.out).toBe(true)
  }, 60_000)

  test('keeps a snapshot while plants are written', async () => {
    const target = await migratedDatabase()
    const rows = "SELECT n, 'plant', NULL FROM generate_series(1, 5000) AS n"
    await postgres.query(target, `INSERT INTO plants ${rows}`)
    const exported = run(target, 'export', '--format', 'csv')
    for (let id = 10_001; id < 10_100; id++) {
      await postgres.query(target, `INSERT INTO plants VALUES (${id}, 'later', NULL)`)
    }
    const lines = (await exported).out.trim().split('\n')
    const ids = lines.slice(1).map((line) => Number(line.split(',')[0]))
    expect(ids.slice(0, 5000)).toEqual(Array.from({ length: 5000 }, (_, index) => index + 1))
    expect(ids).toEqual(ids.toSorted((one, other) => one - other))
  })
})

test('doctor says what it found in a database that a server can open', async () => {
  const databaseUrl = await migratedDatabase()
  await run(databaseUrl, 'token', 'create', '--name', 'greenhouse')
  const { code, out } = await run(databaseUrl, 'doctor')
  expect(code).toBe(0)
  for (const fact of [/^store +PostgreSQL \d/m, /^schema +version 3/m, /^tokens +1 in use$/m]) {
    expect(out).toMatch(fact)
  }
  expect(out).not.toContain('warning')
})

test.each(['backup', 'restore'])('%s says which tool does it for PostgreSQL', async (command) => {
  const { code, err } = await run(await migratedDatabase(), command, 'file')
  expect(code).toBe(78)
  expect(err).toMatch(/^ {2}pg_(?:dump|restore) .*--host=HOST --username=USER/m)
  expect(err).toContain('PGPASSFILE')
  expect(err).not.toContain('DATABASE_URL')
})
