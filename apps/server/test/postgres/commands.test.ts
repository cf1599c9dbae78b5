import { describe, expect, test } from 'vitest'
import { execute } from '../commands/plants.ts'
import { arrange, runAt } from '../commands/program.ts'
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

const INSERT_300_MB = `INSERT INTO plants
  WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 5000)
  SELECT id, format('%-60000s', 'Fern'), NULL FROM n`

test.each([true, false])(
  'an export of 300 MB needs bounded memory, from SQLite: %s',
  async (isSqlite) => {
    const { path, shell } = await arrange([])
    const databaseUrl = isSqlite ? `sqlite:${path}` : await newDatabase(postgres)
    if (isSqlite) execute(path, INSERT_300_MB)
    else await postgres.query(databaseUrl, INSERT_300_MB)
    const sayPeak = "process.on('exit',()=>console.error(process.resourceUsage().maxRSS))"
    const line = `server export --database-url '${databaseUrl}' | wc -c`
    const environment = `NODE_OPTIONS="--import=data:text/javascript,${sayPeak}"`
    const { code, out, err } = await shell(`${environment} ${line}`)
    expect(code).toBe(0)
    expect(Number(out)).toBeGreaterThan(300_000_000)
    const [, kibibytes] = /^(\d+)\n$/m.exec(err) ?? []
    expect(Number(kibibytes)).toBeLessThan(400_000)
  },
)

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
