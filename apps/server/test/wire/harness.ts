import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import type { Flags } from '../../src/config/config.ts'
import type { TokenRecord } from '../../src/store/store.ts'
import {
  type DatabaseUnderTest,
  makeDatabaseUnderTest,
  type StoredPlant,
} from './database-under-test.ts'
import {
  type ExpectedError,
  type ExpectedReply,
  expectNoSecret,
  expectReply,
  headerOf,
} from './expectations.ts'
import { type Bytes, type Connection, openConnection, type Reply } from './raw-socket.ts'
import { plantOf, plantText, post, token } from './request.ts'
import { PROBE, type ServerUnderTest, type StartServer, startProcess } from './server-under-test.ts'

/** What differs from a server as it is shipped, over the database that the tests use. */
export interface WireServerOptions {
  readonly makeDatabase?: () => Promise<DatabaseUnderTest>
  readonly start?: StartServer
}

/**
 * What becomes of the connection: the next request on it is answered, the server closes it by
 * itself, or the reply says that it closes and the server waits until the caller has finished.
 */
export type Aftermath = 'kept' | 'closed' | 'lingering'

export interface Exchange {
  readonly sent: Bytes
  /** Every reply, in order. */
  readonly replies: readonly ExpectedReply[]
  /** Every plant that the database holds afterwards; none by default. */
  readonly stored?: readonly StoredPlant[]
  /** `kept` by default. */
  readonly connection?: Aftermath
}

/** A real server with a real store on ports of its own, for the tests of one file. */
export interface WireServer {
  readonly database: DatabaseUnderTest
  readonly port: number
  readonly operationsPort: number
  /** The exit code, once the server has ended by itself. */
  readonly ended: Promise<number | null>
  /** Resolves once the server has read what was sent to it, and seen which connections have ended. */
  quiesce(): Promise<void>
  /** One JSON text for each line that the server has logged in this test. */
  readLog(): Promise<readonly string[]>
  /** A new connection, which ends with the test. */
  open(port?: number): Promise<Connection>
  /** Sends bytes on a new connection and checks what comes back, what is stored and what is logged. */
  check(exchange: Exchange): Promise<void>
  /** `check` for one good request, whose plant is answered and stored. */
  accepts(sent: Bytes, plant: StoredPlant, connection?: Aftermath): Promise<void>
  /** `check` for one request that is answered with an Error and stores nothing. */
  refuses(sent: Bytes, error: ExpectedError, connection?: Aftermath): Promise<void>
  /** The shortest of three times from sending a request to its reply. */
  fastestMs(sent: Bytes): Promise<number>
  /** Fails unless the database holds these plants only, and a good request is answered 200. */
  expectStoredAndServing(stored: readonly StoredPlant[]): Promise<void>
}

/** The plants that show that a connection, or the server, goes on. */
const KEPT_ID = 7_000_000_000_000_000_001n
const FRESH_ID = 7_000_000_000_000_000_002n

/** On a machine that is busy with other tests. */
const START_MS = 60_000

export function tokenRecord(fields: Partial<TokenRecord> = {}): TokenRecord {
  const { id, secretSha256 } = token
  const times = { createdAt: Date.now(), expiresAt: undefined, revokedAt: undefined }
  return { id, name: 'wire', secretSha256, ...times, lastUsedAt: undefined, ...fields }
}

/** A log that nobody could have forged a line of, and that holds no secret. */
function expectCleanLog(lines: readonly string[]): void {
  for (const line of lines) {
    expect(line.trimEnd()).not.toMatch(/[\r\n]/)
    expect(JSON.parse(line)).toHaveProperty('level')
    expectNoSecret(line)
  }
}

async function expectAftermath(
  caller: Connection,
  last: Reply | undefined,
  aftermath: Aftermath,
): Promise<void> {
  const saysClose = last !== undefined && headerOf(last, 'connection')?.toLowerCase() === 'close'
  if (last !== undefined) expect(saysClose, 'says "connection: close"').toBe(aftermath !== 'kept')
  if (aftermath === 'kept') {
    caller.send(post(plantText(KEPT_ID)))
    expectReply(await caller.readReply(), { plant: { name: plantOf(KEPT_ID).name } })
    return
  }
  if (aftermath === 'lingering') caller.finish()
  expect(String(await caller.readToEnd()), 'after the last reply').toBe('')
}

function byId(one: StoredPlant, other: StoredPlant): number {
  return one.id < other.id ? -1 : 1
}

class RunningWireServer implements WireServer {
  readonly #settings: Flags
  readonly #options: WireServerOptions
  readonly #connections = new Set<Connection>()
  #opened: { readonly server: ServerUnderTest; readonly database: DatabaseUnderTest } | undefined
  /** How many lines of the log are of earlier tests, and how many were looked at. */
  #linesBefore = 0
  #linesChecked = 0

  constructor(settings: Flags, options: WireServerOptions) {
    this.#settings = settings
    this.#options = options
  }

  async start(): Promise<void> {
    const { makeDatabase = makeDatabaseUnderTest, start = startProcess } = this.#options
    const database = await makeDatabase()
    await database.withStore(({ tokens }) => tokens.add(tokenRecord()))
    const server = await start(database, { shutdownTimeoutMs: '100', ...this.#settings })
    this.#opened = { server, database }
  }

  async stop(): Promise<void> {
    await this.#opened?.server.stop()
    if (this.#opened) this.#expectCleanLog()
    await this.#opened?.database.close()
  }

  /** Makes a test independent of those before it. */
  async reset(): Promise<void> {
    await this.#server.resolveLog()
    this.#linesBefore = this.#server.logLines().length
    await this.database.removePlants()
  }

  disconnect(): void {
    for (const connection of this.#connections) connection.destroy()
    this.#connections.clear()
  }

  get #running() {
    if (this.#opened === undefined) throw new Error('the server is not running')
    return this.#opened
  }

  get #server(): ServerUnderTest {
    return this.#running.server
  }
  get database(): DatabaseUnderTest {
    return this.#running.database
  }

  get port(): number {
    return this.#server.port
  }
  get operationsPort(): number {
    return this.#server.operationsPort
  }
  get ended(): Promise<number | null> {
    return this.#server.ended
  }

  async quiesce(): Promise<void> {
    // Of two in a row, the second is read in a turn of its own, after all that came before the first.
    const url = `http://127.0.0.1:${this.operationsPort}/${PROBE}`
    for (let round = 0; round < 2; round++) await (await fetch(url)).text()
  }

  async readLog(): Promise<readonly string[]> {
    await this.#server.resolveLog()
    return this.#server.logLines().slice(this.#linesBefore)
  }

  /** Fails where a line could be taken for two, or holds a secret. */
  #expectCleanLog(): void {
    const lines = this.#server.logLines()
    expectCleanLog(lines.slice(this.#linesChecked))
    this.#linesChecked = lines.length
  }

  async open(port = this.port): Promise<Connection> {
    const connection = await openConnection(port)
    this.#connections.add(connection)
    return connection
  }

  async check({ sent, replies, stored = [], connection = 'kept' }: Exchange): Promise<void> {
    const caller = await this.open()
    caller.send(sent)
    let last: Reply | undefined
    for (const expected of replies) {
      const hasBody = !(expected instanceof Object && 'error' in expected) || expected.hasBody
      last = await caller.readReply({ hasBody: hasBody ?? true })
      expectReply(last, expected)
    }
    await expectAftermath(caller, last, connection)
    const kept = connection === 'kept' ? [plantOf(KEPT_ID)] : []
    await this.expectStoredAndServing([...stored, ...kept])
  }

  accepts(sent: Bytes, plant: StoredPlant, connection: Aftermath = 'kept'): Promise<void> {
    const { id: _id, ...answered } = plant
    return this.check({ sent, replies: [{ plant: answered }], stored: [plant], connection })
  }

  refuses(sent: Bytes, error: ExpectedError, connection: Aftermath = 'kept'): Promise<void> {
    return this.check({ sent, replies: [error], connection })
  }

  async fastestMs(sent: Bytes): Promise<number> {
    let fastest = Number.POSITIVE_INFINITY
    for (let run = 0; run < 3; run++) {
      const caller = await this.open()
      const begin = performance.now()
      caller.send(sent)
      await caller.readReply()
      fastest = Math.min(fastest, performance.now() - begin)
    }
    return fastest
  }

  async expectStoredAndServing(stored: readonly StoredPlant[]): Promise<void> {
    const isRepeat = (await this.database.readPlants()).some(({ id }) => id === FRESH_ID)
    const fresh = await this.open()
    fresh.send(post(plantText(FRESH_ID)))
    expectReply(await fresh.readReply(), { plant: { name: plantOf(FRESH_ID).name }, isRepeat })
    const expected = [...stored, plantOf(FRESH_ID)].sort(byId)
    expect(await this.database.readPlants()).toStrictEqual(expected)
    this.#expectCleanLog()
  }
}

/**
 * Runs a server for the tests of a file or a `describe`, with settings beside the defaults; its
 * database is empty before each of them.
 */
export function useWireServer(settings: Flags = {}, options: WireServerOptions = {}): WireServer {
  const server = new RunningWireServer(settings, options)
  beforeAll(() => server.start(), START_MS)
  beforeEach(() => server.reset())
  afterEach(() => server.disconnect())
  afterAll(() => server.stop(), START_MS)
  return server
}
