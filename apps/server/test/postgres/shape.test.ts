import { describe, expect, test } from 'vitest'
import { openPostgresStore } from '../../src/postgres/postgres.ts'
import { runProgram } from '../commands/program.ts'
import { clientOf, prepareDatabase, serve, waitForReadiness } from './served-database.ts'
import { usePostgres } from './use-postgres.ts'

const postgres = usePostgres()

const SWALLOW = `CREATE FUNCTION public.swallow() RETURNS trigger LANGUAGE plpgsql
  AS $$BEGIN RETURN NULL; END$$`
const TRIGGER = `${SWALLOW}; CREATE TRIGGER swallow BEFORE INSERT ON plants
  FOR EACH ROW EXECUTE FUNCTION public.swallow()`

async function arrange(change: string) {
  const database = await prepareDatabase(await postgres.createDatabase())
  await postgres.query(database.databaseUrl, change)
  return database
}

describe('tables that are not as migrate makes them are refused by name', () => {
  test.each([
    ['a trigger', TRIGGER, 'plants has the trigger swallow'],
    [
      'a rule',
      'CREATE RULE nothing AS ON INSERT TO plants DO INSTEAD NOTHING',
      'plants has the rule nothing',
    ],
    ['no log', 'ALTER TABLE plants SET UNLOGGED', 'plants has no log: a crash would empty it'],
    [
      'another type',
      'ALTER TABLE plants ALTER name TYPE varchar(5)',
      'plants has the column name character varying(5) not null; plants lacks the column name text not null',
    ],
    ['a column less', 'ALTER TABLE plants DROP tag', 'plants lacks the column tag text'],
    [
      'a column more that every plant must fill',
      'ALTER TABLE plants ADD bed text NOT NULL',
      'plants has the column bed text not null',
    ],
    [
      'a column that fills itself',
      "ALTER TABLE plants DROP tag; ALTER TABLE plants ADD tag text GENERATED ALWAYS AS ('') STORED",
      'plants has the column tag text generated with a default',
    ],
    [
      'another collation',
      `CREATE COLLATION public.folding (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
        ALTER TABLE tokens ALTER id TYPE text COLLATE public.folding`,
      'tokens has the column id text with a collation not null',
    ],
    ['no key', 'ALTER TABLE plants DROP CONSTRAINT plants_pkey', 'plants lacks PRIMARY KEY (id)'],
    [
      'a key that is looked at late',
      'ALTER TABLE plants DROP CONSTRAINT plants_pkey, ADD PRIMARY KEY (id) DEFERRABLE',
      'plants has PRIMARY KEY (id) DEFERRABLE',
    ],
    [
      'a constraint',
      "ALTER TABLE plants ADD CONSTRAINT named CHECK (name <> '')",
      'plants has the constraint named CHECK',
    ],
    [
      'names that are unique',
      'CREATE UNIQUE INDEX one_name ON plants (name)',
      'plants has the unique index public.one_name',
    ],
    [
      'a child',
      'CREATE TABLE weeds () INHERITS (plants)',
      'plants has the child table public.weeds',
    ],
    ['a table less', 'DROP TABLE token_rates', 'the table token_rates is missing'],
    [
      'a view in the place of a table',
      'ALTER TABLE tokens RENAME TO kept; CREATE VIEW tokens AS TABLE kept',
      'tokens has the kind v',
    ],
  ])('%s', async (_what, change, reply) => {
    const { databaseUrl } = await arrange(change)
    const served = await runProgram(['serve', '--database-url', databaseUrl])
    expect(served).toMatchObject({ code: 69, out: '' })
    expect(served.err).toContain('in the schema public are not as the migrations make them: ')
    expect(served.err).toContain(reply)
    const doctor = await runProgram(['doctor', '--database-url', databaseUrl])
    expect(doctor).toMatchObject({ code: 69, err: served.err })
  })

  test.each([
    ['a trigger that is off', `${TRIGGER}; ALTER TABLE plants DISABLE TRIGGER swallow`],
    ['an index', 'CREATE INDEX by_name ON plants (name)'],
    ['a column that may be left out', 'ALTER TABLE plants ADD noted timestamptz DEFAULT now()'],
    ['a reference of others', 'CREATE TABLE beds (plant bigint REFERENCES plants)'],
  ])('but not %s', async (_what, change) => {
    const { databaseUrl } = await arrange(change)
    const store = await openPostgresStore({ databaseUrl, allowDataLoss: false })
    expect(await store.isReady()).toBe(true)
    expect(await store.plants.create({ id: 1n, name: 'Fern' })).toBe('created')
    await store.close()
  })
})

test('a server under which somebody changes them is not ready, and says why', async () => {
  const database = await arrange('SELECT')
  const server = await serve(database)
  await waitForReadiness(server, true)
  await postgres.query(database.databaseUrl, TRIGGER)
  const reply = await fetch(`${server.operationsUrl}/readyz`)
  expect(reply.status).toBe(503)
  expect(await reply.text()).toContain('plants has the trigger swallow')
  await postgres.query(database.databaseUrl, 'DROP TRIGGER swallow ON plants')
  await waitForReadiness(server, true)
})

test('row-level security hides nothing: what it would hide is an error', async () => {
  const { databaseUrl, token } = await arrange('SELECT')
  const role = `hidden_${Date.now()}`
  await postgres.query(databaseUrl, `CREATE ROLE ${role} LOGIN PASSWORD 'hidden'`)
  await postgres.query(databaseUrl, `GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`)
  const url = databaseUrl.replace(/\/\/.*@/, `//${role}:hidden@`)
  const server = await serve({ databaseUrl: url, token })
  const client = clientOf(server.url, token)
  const create = () => client.rest.createPlant({ body: { id: 1, name: 'Fern' } })
  expect(await create()).toMatchObject({ status: 200 })
  await postgres.query(databaseUrl, 'ALTER TABLE plants ENABLE ROW LEVEL SECURITY')
  expect(await create()).toMatchObject({ status: 503 })
  expect((await runProgram(['export', '--database-url', url])).code).toBe(69)
  const { code, err } = await runProgram(['serve', '--database-url', url])
  expect({ code, err }).toMatchObject({
    code: 69,
    err: expect.stringContaining('plants has row-level security for this user'),
  })
})
