import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import { connect } from '../../src/sqlite/connect.ts'
import { openSqliteStore } from '../../src/sqlite/store.ts'
import { type CreateOutcome, StoreRefusedError } from '../../src/store/store.ts'
import { execute, namesIn } from '../commands/plants.ts'
import { runOn } from '../commands/program.ts'

/** What the migrations have made since they landed: a store of today must stay one. */
const LANDED = `
CREATE TABLE migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT;
CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT;
CREATE TABLE tokens (
      id TEXT PRIMARY KEY,
      name TEXT NOT NULL,
      secret_sha256 BLOB NOT NULL,
      created_at INTEGER NOT NULL,
      expires_at INTEGER,
      revoked_at INTEGER,
      last_used_at INTEGER
    ) STRICT;
INSERT INTO migrations VALUES (1, 'plants', 0), (2, 'tokens', 0);
PRAGMA application_id = ${0x504c4e54}`

const WEEDS = 'CREATE TRIGGER weeds BEFORE INSERT ON plants BEGIN SELECT RAISE(IGNORE); END'

const BACK_TO_VERSION_1 = 'DROP TABLE tokens; DELETE FROM migrations WHERE version = 2'

/** A store with a plant that SQL was run on, by a connection that SQLite's defences do not hold back. */
async function makeStore(sql: string): Promise<string> {
  const path = join(temporaryFolder(), 'plants.db')
  await create(path, 'created')
  execute(path, sql)
  return path
}

/** Opens a store, creates a plant in it and closes it. */
async function create(path: string, outcome: CreateOutcome, id = 1n): Promise<void> {
  const store = await open(path)
  expect(await store.plants.create({ id, name: 'Fern' })).toBe(outcome)
  await store.close()
}

function open(path: string) {
  return openSqliteStore({ path })
}

function rewriteSchema(change: string, where: string): string {
  return `PRAGMA writable_schema = ON; UPDATE sqlite_schema SET ${change} WHERE ${where}`
}

/** As earlier versions wrote them. */
const ARRIVALS =
  'CREATE TABLE arrivals (position INTEGER PRIMARY KEY, plant INTEGER NOT NULL) STRICT'
const RECORD_ARRIVAL = 'INSERT ON plants BEGIN INSERT INTO arrivals (plant) VALUES (new.id); END'
const MOVE_BEGUN = `CREATE TABLE move (id TEXT NOT NULL, last_id INTEGER, moved_to TEXT) STRICT; ${ARRIVALS}; CREATE TRIGGER record_arrival AFTER ${RECORD_ARRIVAL}`
const MOVE_FINISHED =
  "CREATE TABLE move (id TEXT NOT NULL, last_id INTEGER, moved_to TEXT) STRICT; INSERT INTO move VALUES ('a', 1, 'PostgreSQL 18 in db/plants'); CREATE TRIGGER refuse_arrival AFTER INSERT ON plants BEGIN SELECT RAISE(ABORT, 'the plants have moved'); END"

test.each<[problem: string | RegExp, sql: string]>([
  ['trigger weeds was added', WEEDS],
  [
    'trigger record_arrival was added',
    `${ARRIVALS}; CREATE TRIGGER record_arrival BEFORE ${RECORD_ARRIVAL}`,
  ],
  [
    'table words was added, table words_data was added',
    'CREATE VIRTUAL TABLE words USING fts5 (name)',
  ],
  ['table plants was changed', 'ALTER TABLE plants ADD COLUMN pot TEXT'],
  [/index sqlite_autoindex_tokens_1 is missing|tokens is m/, 'DROP TABLE tokens'],
  [
    'table plants was changed',
    rewriteSchema("sql = replace(sql, ' STRICT', '')", "name = 'plants'"),
  ],
  [
    /view tokens was added.* table tokens is missing/,
    'ALTER TABLE tokens RENAME TO hidden; CREATE VIEW tokens AS SELECT * FROM hidden',
  ],
  [
    'view migrations was added, table migrations is missing',
    'DROP TABLE migrations; CREATE VIEW migrations AS SELECT 2 AS version, 0 AS applied_at',
  ],
  [
    'table migrations was changed',
    'DROP TABLE migrations; CREATE VIRTUAL TABLE migrations USING fts5 (version)',
  ],
  [
    // Like one of ANALYZE.
    'table sqlite_stat9 was added',
    `CREATE TABLE x (tbl, idx, stat); ${rewriteSchema("name = 'sqlite_stat9', tbl_name = 'sqlite_stat9', sql = 'CREATE TABLE sqlite_stat9(tbl,idx,stat)'", "name = 'x'")}`,
  ],
  ['view ferns was added', `${BACK_TO_VERSION_1}; CREATE VIEW ferns AS SELECT * FROM plants`],
  ['table tokens was added', 'DELETE FROM migrations WHERE version = 2'],
  ['table __2Jx_y was added', 'CREATE TABLE "\u001b[2Jx\ny" (z)'],
])(
  'a schema that the migrations did not make is refused, and the file left: %s',
  async (problem, sql) => {
    const path = await makeStore(sql)
    const before = readFileSync(path)
    await expect(open(path)).rejects.toThrow(StoreRefusedError)
    await expect(open(path)).rejects.toThrow('plants.db is not as this program made it: ')
    await expect(open(path)).rejects.toThrow(problem)
    expect(readFileSync(path).equals(before)).toBe(true)
    expect(readdirSync(join(path, '..')).filter((name) => /schema/.test(name))).toEqual([])
  },
)

test.each([
  'serve --listen 127.0.0.1:0',
  'token create --name x',
  'token list',
  'export',
  'migrate',
  'backup NEW',
  'doctor',
  'restore STORE',
])('a trigger that answers 200 and stores nothing is refused by: %s', async (line) => {
  const path = await makeStore(WEEDS)
  const before = readFileSync(path)
  const target = line.startsWith('restore') ? `${path}.new` : path
  const command = line.replace('NEW', `${path}.new`).replace('STORE', path)
  const { code, out, err } = await runOn(target, command)
  expect({ code, out }).toEqual({ code: 69, out: '' })
  expect(err).toMatch(
    /plants\.db is not as .* made it: trigger weeds was added\. Try: find out who/,
  )
  expect(readFileSync(path).equals(before)).toBe(true)
  expect(existsSync(`${path}.new`)).toBe(false)
})

test('a store whose plants have moved is refused, until its trigger is taken away', async () => {
  const path = await makeStore(MOVE_FINISHED)
  const error = await open(path).catch((reason) => reason)
  expect(error).toBeInstanceOf(StoreRefusedError)
  expect(error.message).toMatch(/have moved: all of them are in PostgreSQL 18 in db\/plants$/)
  expect(error.code).toBe('moved')
  const [, sql = ''] = /'(DROP .*)'$/.exec(error.fix) ?? []
  execute(path, sql)
  await create(path, 'already_there')
})

describe('a schema is taken', () => {
  test('as the migrations made it when they landed', async () => {
    const path = join(temporaryFolder(), 'plants.db')
    execute(path, LANDED)
    await create(path, 'created')
  })

  test.each([
    ['what ANALYZE keeps', 'ANALYZE', 'sqlite_stat1'],
    [
      'the tables of Litestream',
      'CREATE TABLE IF NOT EXISTS _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER); CREATE TABLE IF NOT EXISTS _litestream_lock (id INTEGER)',
      '_litestream_lock',
    ],
  ])('with %s', async (_what, sql, table) => {
    const path = await makeStore(sql)
    await create(path, 'already_there')
    expect(namesIn(path)).toEqual({ names: expect.stringContaining(table) })
  })

  test('of a move that an earlier version began, which it then forgets', async () => {
    const path = await makeStore(
      `${MOVE_BEGUN}; INSERT INTO plants VALUES (2, 'Fern', NULL); INSERT INTO move VALUES ('a', 1, NULL)`,
    )
    await create(path, 'already_there', 2n)
    await create(path, 'created', 3n)
    expect(namesIn(path)).toEqual({ names: 'migrations plants tokens' })
  })
})

describe('a connection', () => {
  const SOURCE = join(import.meta.dirname, '../../src')

  test('is made at one place, whoever opens it', () => {
    const makers = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .filter((name) => readFileSync(join(SOURCE, name), 'utf8').includes('new DatabaseSync('))
    expect(makers).toEqual([join('sqlite', 'connect.ts')])
  })

  test('trusts no schema, takes no extension and keeps SQL from writing the schema', () => {
    const database = connect(':memory:')
    expect(database.prepare('PRAGMA trusted_schema').get()).toEqual({ trusted_schema: 0 })
    database.exec('PRAGMA writable_schema = ON')
    expect(() => database.exec('DELETE FROM sqlite_schema')).toThrow(/may not be modified/)
    expect(() => database.loadExtension('anything')).toThrow(/not allowed/)
    expect(() => database.enableLoadExtension(true)).toThrow(/not allowed|Cannot enable/)
    database.close()
  })
})
