import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import { execute } from '../commands/plants.ts'
import { arrange, runAt } from '../commands/program.ts'
import { runShell } from '../commands/shell.ts'
import {
  newDatabase,
  openSession,
  usePostgres,
  WAITING_FOR_A_LOCK,
  waitForRow,
} from './use-postgres.ts'

const postgres = usePostgres()

describe('migrate', () => {
  test('makes the schema once, however many programs run it', async () => {
    const databaseUrl = await postgres.createDatabase()
    const runs = await Promise.all([1, 2, 3].map(() => runAt(databaseUrl, 'migrate')))
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0])
    const migrated = runs.filter(({ err }) => err.includes('migrated from schema version 0'))
    expect(migrated).toHaveLength(1)
  })

  test('that waits for another one ends when it is asked to', async () => {
    const databaseUrl = await postgres.createDatabase()
    const other = await openSession(databaseUrl)
    await other.query('SELECT pg_advisory_lock($1)', [0x504c4e54])
    const stop = new AbortController()
    const ended = runAt(databaseUrl, 'migrate', { stop: stop.signal })
    await waitForRow(other, WAITING_FOR_A_LOCK)
    stop.abort('SIGTERM')
    const err = expect.stringContaining('Try: the same command again')
    expect(await ended).toMatchObject({ code: 75, err })
  })

  test.each(['token list', 'export', 'serve'])(
    'is asked for by `%s` without a schema',
    async (command) => {
      const err = expect.stringContaining('Try: plant-store-server migrate')
      expect(await runAt(await postgres.createDatabase(), command)).toMatchObject({ code: 69, err })
    },
  )
})

test.each([
  [
    'SQLite',
    async () => {
      const { path } = await arrange([])
      const ids = 'WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n LIMIT 5000)'
      execute(path, `INSERT INTO plants ${ids} SELECT id, hex(zeroblob(30000)), NULL FROM n`)
      return `sqlite:${path}`
    },
  ],
  [
    'PostgreSQL',
    async () => {
      const databaseUrl = await newDatabase(postgres)
      const rows = "SELECT n, repeat('x', 60000), NULL FROM generate_series(1, 5000) AS n"
      await postgres.query(databaseUrl, `INSERT INTO plants ${rows}`)
      return databaseUrl
    },
  ],
])('an export of 300 MB from %s needs bounded memory', async (_engine, makeDatabase) => {
  const sayPeak = "process.on('exit',()=>console.error(process.resourceUsage().maxRSS))"
  const line = `server export --database-url '${await makeDatabase()}' | wc -c`
  const environment = `NODE_OPTIONS="--import=data:text/javascript,${sayPeak}"`
  const { code, out, err } = await runShell(temporaryFolder(), `${environment} ${line}`)
  expect(code).toBe(0)
  expect(Number(out)).toBeGreaterThan(300_000_000)
  const [, kibibytes] = /^(\d+)\n$/m.exec(err) ?? []
  expect(Number(kibibytes)).toBeLessThan(400_000)
})

test('doctor says what it found in a database that a server can open', async () => {
  const databaseUrl = await newDatabase(postgres)
  await runAt(databaseUrl, 'token create --name greenhouse')
  const { code, out } = await runAt(databaseUrl, 'doctor')
  expect(code).toBe(0)
  for (const fact of [/^store +PostgreSQL \d/m, /^schema +version 3/m, /^tokens +1 in use$/m]) {
    expect(out).toMatch(fact)
  }
  expect(out).not.toContain('warning')
})
