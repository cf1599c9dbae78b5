import { expect, test } from 'vitest'
import { migratePostgresDatabase } from '../../src/postgres/migrations.ts'
import { prepareDatabase, serve } from './served-database.ts'
import {
  asRole,
  END_STORE_SESSIONS,
  nameOf,
  newDatabase,
  openStoreAt,
  usePostgres,
} from './use-postgres.ts'

const postgres = usePostgres()

/** A database whose store is a plain user's, beside a stranger who may make schemas in it. */
async function arrange() {
  const url = await postgres.createDatabase()
  const name = nameOf(url)
  const [owner, stranger] = [`owner_${name}`, `stranger_${name}`]
  const asSuperuser = (text: string) => postgres.query(url, text)
  await asSuperuser(`CREATE ROLE ${owner} LOGIN PASSWORD '${owner}';
    CREATE ROLE ${stranger} LOGIN PASSWORD '${stranger}';
    GRANT CREATE ON DATABASE ${name} TO ${stranger};
    GRANT CREATE ON SCHEMA public TO ${owner}, ${stranger}`)
  const asStranger = (text: string) => postgres.query(asRole(url, stranger), text)
  return { owner, url: asRole(url, owner), asStranger, asSuperuser }
}

/** What a stranger makes to take a store over. */
function takeOver(schema: string, tables: readonly string[]): string {
  const copies = tables.map((table) => `CREATE TABLE ${schema}.${table} AS TABLE public.${table}`)
  return `${copies.join(';')}; GRANT USAGE ON SCHEMA ${schema} TO PUBLIC;
    GRANT ALL ON ALL TABLES IN SCHEMA ${schema} TO PUBLIC`
}

const TABLES = ['migrations', 'plants', 'tokens', 'token_rates']

test.each([
  ['tokens alone', ['tokens']],
  ['all four', TABLES],
])(
  "tables of a stranger in a schema of the user's name change nothing, now and for the next start: %s",
  async (_what, tables) => {
    const { owner, url, asStranger, asSuperuser } = await arrange()
    const database = await prepareDatabase(url)
    const server = await serve(database)
    const store = await openStoreAt(url)
    expect(await server.create(1)).toMatchObject({ status: 200 })
    await asSuperuser(`GRANT SELECT ON ALL TABLES IN SCHEMA public TO PUBLIC`)
    await asStranger(`CREATE SCHEMA ${owner}; ${takeOver(owner, tables)}`)
    // With these, the caller's token would be no more.
    await asStranger(`UPDATE ${owner}.tokens SET revoked_at = 1`)
    // What a connection has set goes with it.
    await asSuperuser(END_STORE_SESSIONS)
    expect(await server.create(2)).toMatchObject({ status: 200 })
    // The server remembers a token for a moment.
    expect(await store.tokens.list()).toMatchObject([{ name: 'storm', revokedAt: undefined }])
    const next = await serve(database)
    expect(await next.create(3)).toMatchObject({ status: 200 })
    const stored = await asSuperuser('SELECT id::int FROM public.plants ORDER BY id')
    expect(stored.map(({ id }) => id)).toEqual([1, 2, 3])
  },
)

test('two schemas of trusted owners with the tables of a store are refused by name', async () => {
  const url = await newDatabase(postgres)
  await postgres.query(url, `CREATE SCHEMA plant_store; ${takeOver('plant_store', TABLES)}`)
  const publicAlone = '?options=-c%20search_path%3Dpublic'
  await expect(openStoreAt(url)).rejects.toMatchObject({
    message: expect.stringContaining('each of the schemas plant_store, public'),
    fix: expect.stringContaining(publicAlone),
  })
  const said = await openStoreAt(`${url}${publicAlone}`)
  expect(await said.plants.create({ id: 1n, name: 'Fern' })).toBe('created')
  expect(await postgres.query(url, 'SELECT name FROM public.plants')).toHaveLength(1)
})

test("functions, operators and types of a stranger's are never called", async () => {
  const { url, asStranger } = await arrange()
  await asStranger(`
    CREATE TABLE public.caught (what text);
    GRANT INSERT ON public.caught TO PUBLIC;
    CREATE FUNCTION public.catch(bigint, bigint) RETURNS boolean LANGUAGE plpgsql
      AS $$BEGIN INSERT INTO public.caught VALUES ('operator'); RETURN false; END$$;
    CREATE OPERATOR public.= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = public.catch);
    CREATE FUNCTION public.max(bigint) RETURNS bigint LANGUAGE sql AS 'SELECT 1/0';
    CREATE DOMAIN public.bytea AS text`)
  const last = `${url}?options=-c%20search_path%3Dpublic,pg_catalog`
  await migratePostgresDatabase(last, false)
  const store = await openStoreAt(last)
  const create = () => store.plants.create({ id: 1n, name: 'Fern' })
  expect([await create(), await create()]).toEqual(['created', 'already_there'])
  expect(await store.isReady()).toBe(true)
  expect(await asStranger('SELECT what FROM public.caught')).toEqual([])
})

test('the schema of a new store is the one that the search_path names', async () => {
  const url = await postgres.createDatabase()
  await postgres.query(url, 'CREATE SCHEMA "Green House"')
  const said = `${url}?options=-c%20search_path%3D"Green\\%20House"`
  await migratePostgresDatabase(said, false)
  const store = await openStoreAt(said)
  expect(await store.plants.create({ id: 1n, name: 'Fern' })).toBe('created')
  expect(await postgres.query(url, 'SELECT name FROM "Green House".plants')).toHaveLength(1)
  await expect(openStoreAt(url)).rejects.toThrow('schema version 0 in public')
})

test("the schema of a new store is never a stranger's that only bears the user's name", async () => {
  const { owner, url, asStranger } = await arrange()
  await asStranger(`CREATE SCHEMA ${owner}; GRANT ALL ON SCHEMA ${owner} TO PUBLIC`)
  const refusal = new RegExp(`schema ${owner}, which belongs neither`)
  await expect(migratePostgresDatabase(url, false)).rejects.toThrow(refusal)
})
