import { type PostgresServer, query } from '../../../../test/postgres-server.ts'
import {
  clientWithoutRetries,
  type ServerProcess,
  type ServerProcessOptions,
  startServerProcess,
} from '../../../../test/server-process.ts'
import { readPlants, type StoredPlant } from '../../../../test/sqlite-file.ts'
import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import { issueToken } from '../../src/auth/tokens.ts'
import { engineOf } from '../../src/engines.ts'

/** A migrated database and a token for the servers over it. */
export interface PreparedDatabase {
  readonly databaseUrl: string
  readonly token: string
}

/** Brings a new database to the schema and puts a token into it. */
export async function prepareDatabase(
  databaseUrl: string,
  tokenName = 'storm',
  lifetimeMs = Number.POSITIVE_INFINITY,
): Promise<PreparedDatabase> {
  const database = engineOf(databaseUrl)
  await database.migrate({ allowDataLoss: false })
  const store = await database.open({ allowDataLoss: false })
  const { text: token } = await issueToken(store, tokenName, lifetimeMs)
  await store.close()
  return { databaseUrl, token }
}

export type Served = Awaited<ReturnType<typeof serve>>

/** A server process over a prepared database, which ends with the test, and its client, which sends each plant once. */
export async function serve(
  { databaseUrl, token = '' }: Partial<PreparedDatabase>,
  options: Partial<ServerProcessOptions> = {},
) {
  const server = await startServerProcess({
    folder: temporaryFolder(),
    token,
    ...options,
    environment: {
      ...(databaseUrl && { PLANT_STORE_DATABASE_URL: databaseUrl }),
      PLANT_STORE_LOG_LEVEL: 'silent',
      ...options.environment,
    },
  })
  const client = clientWithoutRetries(server)
  const create = (id: number, name = 'Fern') => client.rest.createPlant({ body: { id, name } })
  /** Sends a plant again until it is stored. */
  const store = async (id: number) => {
    while ((await create(id)).status !== 200);
  }
  return { ...server, client, create, store }
}

/** A new database and a server process over it. */
export async function serveNewDatabase(
  postgres: PostgresServer,
  options?: Partial<ServerProcessOptions>,
) {
  const database = await prepareDatabase(await postgres.createDatabase())
  return { database, server: await serve(database, options) }
}

/** Resolves once the server says that it is ready, or that it is not, with all that it says. */
export async function waitForReadiness(
  { operationsUrl }: Pick<ServerProcess, 'operationsUrl'>,
  expected: boolean,
  withinMs = 30_000,
): Promise<string> {
  const deadline = performance.now() + withinMs
  for (;;) {
    const response = await fetch(`${operationsUrl}/readyz`)
    const said = await response.text()
    if (response.ok === expected) return said
    if (performance.now() > deadline) throw new Error(`readyz is not ${expected} but ${said}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Every plant of a database of either engine, in id order, read past the store. */
export async function readRows(databaseUrl: string): Promise<StoredPlant[]> {
  if (databaseUrl.startsWith('sqlite:')) return readPlants(databaseUrl.slice('sqlite:'.length))
  const select = 'SELECT id::text, name, tag FROM plants ORDER BY plants.id'
  return (await query(databaseUrl, select)).map((row) => ({ ...row, id: BigInt(row.id) }))
}

/** The ids of every plant, in order. */
export async function readIds(databaseUrl: string): Promise<number[]> {
  return (await readRows(databaseUrl)).map(({ id }) => Number(id))
}
