import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import { makeStore, spreadPlants } from '../commands/plants.ts'
import { type ProgramOptions, runProgram } from '../commands/program.ts'
import { runShell } from '../commands/shell.ts'
import {
  newDatabase,
  openSession,
  usePostgres,
  WAITING_FOR_A_LOCK,
  waitForRow,
} from './use-postgres.ts'

const postgres = usePostgres()

function run(databaseUrl: string, command: string, options?: ProgramOptions) {
  return runProgram([...command.split(' '), '--database-url', databaseUrl], options)
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
    const ended = run(databaseUrl, 'migrate', { stop: stop.signal })
    await waitForRow(other, WAITING_FOR_A_LOCK)
    stop.abort('SIGTERM')
    const err = expect.stringContaining('Try: the same command again')
    expect(await ended).toMatchObject({ code: 75, err })
  })

  test.each(['token list', 'export', 'serve'])(
    'is asked for by `%s` without a schema',
    async (command) => {
      const err = expect.stringContaining('Try: plant-store-server migrate')
      expect(await run(await postgres.createDatabase(), command)).toMatchObject({ code: 69, err })
    },
  )
})

describe('export', () => {
  test('of 20,000 plants is the same from PostgreSQL as from SQLite, in bounded memory', async () => {
    const folder = temporaryFolder()
    const path = join(folder, 'plants.db')
    await makeStore(path, spreadPlants(20_000))
    const before = await run(`sqlite:${path}`, 'export')
    const rows = `[${before.out.trim().split('\n').join(',')}]`
    const databaseUrl = await newDatabase(postgres)
    const insert =
      'INSERT INTO plants SELECT * FROM jsonb_to_recordset($1) AS (id bigint, name text, tag text)'
    await postgres.query(databaseUrl, insert, [rows])
    const after = await runShell(folder, `server export --database-url '${databaseUrl}'`)
    expect(after).toMatchObject({ code: 0 })
    expect(after.peakMemoryMiB).toBeLessThan(200)
    expect(after.out.split('\n')).toHaveLength(20_001)
    expect(after.out === before.out).toBe(true)
  })
})

test('doctor says what it found in a database that a server can open', async () => {
  const databaseUrl = await newDatabase(postgres)
  await run(databaseUrl, 'token create --name greenhouse')
  const { code, out } = await run(databaseUrl, 'doctor')
  expect(code).toBe(0)
  for (const fact of [/^store +PostgreSQL \d/m, /^schema +version 3/m, /^tokens +1 in use$/m]) {
    expect(out).toMatch(fact)
  }
  expect(out).not.toContain('warning')
})
