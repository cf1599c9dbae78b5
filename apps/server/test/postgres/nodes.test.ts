import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { needs } from '../../../../packages/client/runtimes/needs.ts'
import { openPostgresStore } from '../../src/postgres/postgres.ts'
import type { Store } from '../../src/store/store.ts'
import { runProgram } from '../commands/program.ts'
import { givenUrl } from './given-postgres.ts'
import { addNode, findNode, haveNodes, type Node } from './nodes.ts'
import { query } from './postgres-server.ts'
import { stopProcess } from './sessions.ts'
import { newDatabase, openStoreAt, usePostgres } from './use-postgres.ts'

/** Readiness rests on a look at the nodes that is at most 5 s old. */
const SEEN_WITHIN_MS = 6_000

const SETTINGS = ['fsync', 'full_page_writes', 'synchronous_commit']

const coordinator = usePostgres()
const worker = givenUrl === undefined ? usePostgres() : undefined
let databaseUrl: string
let node: Node

const areThere = needs('a database with nodes', await haveNodes())

beforeAll(async () => {
  if (areThere.skip) return
  databaseUrl = await newDatabase(coordinator)
  if (worker !== undefined) await addNode(databaseUrl, worker)
  node = await findNode(databaseUrl)
})

function turnOff(name: string): Promise<void> {
  onTestFinished(() => node.set(name, 'DEFAULT'))
  return node.set(name, 'off')
}

function reasonOf(store: Store): Promise<string> {
  return store.isReady().then(
    () => 'ready',
    (error) => error.message,
  )
}

describe('a node that could lose what was answered', areThere, () => {
  test.each(SETTINGS)('by %s = off is named by the start', async (name) => {
    await turnOff(name)
    await expect(openStoreAt(databaseUrl)).rejects.toMatchObject({
      name: 'StoreRefusedError',
      message: expect.stringContaining(`the node ${node.name} of the database`),
    })
    const options = { databaseUrl, allowDataLoss: true }
    const risky = await openPostgresStore(options)
    expect(await risky.plants.create({ id: 1n, name: 'Fern' })).toMatch(
      /^(?:created|already_there)$/,
    )
    await risky.close()
  })

  test('is found within a minute, and from then on no create is answered 200', async () => {
    vi.useFakeTimers({ toFake: ['setInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const store = await openStoreAt(databaseUrl)
    const create = (id: bigint) => store.plants.create({ id, name: 'Moss' })
    expect(await create(2n)).toBe('created')
    await turnOff('fsync')
    vi.advanceTimersByTime(60_000)
    const outcome = () => create(3n).catch(({ name, message }) => `${name}: ${message}`)
    await expect.poll(outcome).toMatch(`StoreUnavailableError: the node ${node.name}`)
    expect(await reasonOf(store)).toContain(`${node.name} of the database`)
    await node.set('fsync', 'DEFAULT')
    vi.advanceTimersByTime(60_000)
    await expect.poll(outcome).toMatch(/^(?:created|already_there)$/)
  })

  test('makes the store unready, and again ready when it is mended', async () => {
    vi.useFakeTimers({ toFake: ['setInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const store = await openStoreAt(databaseUrl)
    expect(await store.isReady()).toBe(true)
    await turnOff('synchronous_commit')
    vi.advanceTimersByTime(60_000)
    await expect.poll(() => reasonOf(store)).toContain(`${node.name} of the database`)
    await node.set('synchronous_commit', 'DEFAULT')
    vi.advanceTimersByTime(60_000)
    await expect.poll(() => reasonOf(store)).toBe('ready')
  })
})

describe('a node that is lost', needs('a node that a test may kill', worker !== undefined), () => {
  test('is named by readiness, until it is back', async () => {
    const store = await openStoreAt(databaseUrl)
    worker?.kill()
    const look = { timeout: SEEN_WITHIN_MS + 5_000 }
    await expect.poll(() => reasonOf(store), look).toContain(`the node ${node.name} fails`)
    await worker?.start()
    await expect.poll(() => reasonOf(store), look).toBe('ready')
  })

  test('is named where it never replies, and its place can be opened again', async () => {
    vi.useFakeTimers({ toFake: ['setInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const store = await openStoreAt(databaseUrl)
    const goOn = stopProcess(worker?.pid() ?? 0)
    vi.advanceTimersByTime(60_000)
    const isNamed = expect.stringContaining(`the node ${node.name} fails`)
    await expect.poll(() => reasonOf(store)).toEqual(isNamed)
    await expect(openStoreAt(databaseUrl)).rejects.toMatchObject({ message: isNamed })
    goOn()
    expect(await (await openStoreAt(databaseUrl)).isReady()).toBe(true)
  })
})

const isOurs = needs('a PostgreSQL that takes a trigger', worker !== undefined)

test(
  'an internal error, as a lost node gives it, is no proof that nothing was stored',
  isOurs,
  async () => {
    const url = await newDatabase(coordinator)
    const store = await openStoreAt(url)
    await query(
      url,
      `CREATE SEQUENCE errors;
    CREATE FUNCTION fail_once() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF nextval('public.errors') = 1 THEN RAISE 'lost' USING ERRCODE = 'XX000'; END IF;
      RETURN new;
    END $$;
    CREATE TRIGGER fail_once BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION fail_once()`,
    )
    expect(await store.plants.create({ id: 1n, name: 'Fern' })).toBe('created')
  },
)

describe('migrate --distributed', () => {
  const migrate = (url: string) => runProgram(['migrate', '--distributed', '--database-url', url])

  test('is refused where a database has no command for it', async () => {
    if (worker !== undefined) {
      const { code, err } = await migrate(databaseUrl)
      expect({ code, err }).toMatchObject({
        code: 69,
        err: expect.stringContaining('without --distributed'),
      })
    }
    const { code, err } = await migrate('sqlite:./plants.db')
    expect({ code, err }).toMatchObject({
      code: 78,
      err: expect.stringContaining('is for PostgreSQL'),
    })
  })
})
