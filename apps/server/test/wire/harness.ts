import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { createAuthenticate } from '../../src/auth/authenticate.ts'
import { type Config, loadConfig } from '../../src/config.ts'
import { createLog } from '../../src/operations/log.ts'
import { type RunningServer, startServer } from '../../src/server.ts'
import type { TokenRecord } from '../../src/store/store.ts'
import {
  type ExpectedAnswer,
  type ExpectedError,
  expectAnswer,
  expectNoSecret,
  headerOf,
} from './expectations.ts'
import { type Answer, type Bytes, type Connection, openConnection } from './raw-socket.ts'
import { plantOf, plantText, post, token } from './request.ts'
import {
  type OpenStoreUnderTest,
  openStoreUnderTest,
  type StoredPlant,
  type StoreUnderTest,
} from './store-under-test.ts'

/** Limits that differ from the defaults of the server. */
export interface WireServerOptions extends Partial<Config> {
  readonly openStore?: OpenStoreUnderTest
}

/**
 * What becomes of the connection: the next request on it is answered, the server closes it by
 * itself, or the answer says that it closes and the server waits until the caller has finished.
 */
export type Aftermath = 'kept' | 'closed' | 'lingering'

export interface Exchange {
  readonly sent: Bytes
  /** Every answer, in order. */
  readonly answers: readonly ExpectedAnswer[]
  /** Every plant that the database holds afterwards; none by default. */
  readonly stored?: readonly StoredPlant[]
  /** `kept` by default. */
  readonly connection?: Aftermath
}

/** A real server with a real store on a port of its own, for the tests of one file. */
export interface WireServer {
  /** One JSON text for each line that the server has logged in this test. */
  readonly logLines: readonly string[]
  readonly storeUnderTest: StoreUnderTest
  readonly port: number
  readonly operationsPort: number
  /** A new connection, which ends with the test. */
  open(port?: number): Promise<Connection>
  /** Sends bytes on a new connection and checks what comes back, what is stored and what is logged. */
  check(exchange: Exchange): Promise<void>
  /** `check` for one good request, whose plant is answered and stored. */
  accepts(sent: Bytes, plant: StoredPlant, connection?: Aftermath): Promise<void>
  /** `check` for one request that is answered with an Error and stores nothing. */
  refuses(sent: Bytes, error: ExpectedError, connection?: Aftermath): Promise<void>
  /** The shortest of three times from sending a request to its answer. */
  fastestMs(sent: Bytes): Promise<number>
  /** Fails unless the database holds these plants only, and a good request is answered 200. */
  expectStoredAndServing(stored: readonly StoredPlant[]): Promise<void>
}

/** The plants that show that a connection, or the server, goes on. */
const KEPT_ID = 7_000_000_000_000_000_001n
const FRESH_ID = 7_000_000_000_000_000_002n

const ANY_PORT = { host: '127.0.0.1', port: 0 }

export function tokenRecord(fields: Partial<TokenRecord> = {}): TokenRecord {
  const { id, secretSha256 } = token
  const times = { createdAt: Date.now(), expiresAt: undefined, revokedAt: undefined }
  return { id, name: 'wire', secretSha256, ...times, lastUsedAt: undefined, ...fields }
}

/** A log that nobody could have forged a line of, and that tells no secret. */
function expectCleanLog(lines: readonly string[]): void {
  for (const line of lines) {
    expect(line.trimEnd()).not.toMatch(/[\r\n]/)
    expect(JSON.parse(line)).toHaveProperty('level')
    expectNoSecret(line)
  }
}

async function expectAftermath(
  caller: Connection,
  last: Answer | undefined,
  aftermath: Aftermath,
): Promise<void> {
  const saysClose = last !== undefined && headerOf(last, 'connection')?.toLowerCase() === 'close'
  if (last !== undefined) expect(saysClose, 'says "connection: close"').toBe(aftermath !== 'kept')
  if (aftermath === 'kept') {
    caller.send(post(plantText(KEPT_ID)))
    expectAnswer(await caller.readAnswer(), { plant: { name: plantOf(KEPT_ID).name } })
    return
  }
  if (aftermath === 'lingering') caller.finish()
  expect(String(await caller.readToEnd()), 'after the last answer').toBe('')
}

function byId(one: StoredPlant, other: StoredPlant): number {
  return one.id < other.id ? -1 : 1
}

class RunningWireServer implements WireServer {
  readonly logLines: string[] = []
  readonly #options: WireServerOptions
  readonly #connections = new Set<Connection>()
  #opened: { readonly running: RunningServer; readonly under: StoreUnderTest } | undefined

  constructor(options: WireServerOptions) {
    this.#options = options
  }

  async start(): Promise<void> {
    const { openStore = openStoreUnderTest, ...limits } = this.#options
    const config: Config = { ...loadConfig({}, [], {}), shutdownTimeoutMs: 0, ...limits }
    const under = await openStore(config)
    await under.store.tokens.add(tokenRecord())
    const running = await startServer({
      ...config,
      store: under.store,
      authenticate: createAuthenticate(under.store.tokens),
      log: createLog('trace', { write: (line) => void this.logLines.push(line) }),
      listen: ANY_PORT,
      operationsListen: ANY_PORT,
    })
    this.#opened = { running, under }
  }

  async stop(): Promise<void> {
    await this.#opened?.running.close()
    await this.#opened?.under.close()
  }

  /** Makes a test independent of those before it. */
  async reset(): Promise<void> {
    this.logLines.length = 0
    await this.storeUnderTest.removePlants()
  }

  disconnect(): void {
    for (const connection of this.#connections) connection.destroy()
    this.#connections.clear()
  }

  get storeUnderTest(): StoreUnderTest {
    if (this.#opened === undefined) throw new Error('the server is not running')
    return this.#opened.under
  }

  get port(): number {
    return Number(new URL(this.#opened?.running.url ?? '').port)
  }

  get operationsPort(): number {
    return Number(new URL(this.#opened?.running.operationsUrl ?? '').port)
  }

  async open(port = this.port): Promise<Connection> {
    const connection = await openConnection(port)
    this.#connections.add(connection)
    return connection
  }

  async check({ sent, answers, stored = [], connection = 'kept' }: Exchange): Promise<void> {
    const caller = await this.open()
    caller.send(sent)
    let last: Answer | undefined
    for (const expected of answers) {
      const hasBody = !(expected instanceof Object && 'error' in expected) || expected.hasBody
      last = await caller.readAnswer({ hasBody: hasBody ?? true })
      expectAnswer(last, expected)
    }
    await expectAftermath(caller, last, connection)
    const kept = connection === 'kept' ? [plantOf(KEPT_ID)] : []
    await this.expectStoredAndServing([...stored, ...kept])
  }

  accepts(sent: Bytes, plant: StoredPlant, connection: Aftermath = 'kept'): Promise<void> {
    const { id: _id, ...answered } = plant
    return this.check({ sent, answers: [{ plant: answered }], stored: [plant], connection })
  }

  refuses(sent: Bytes, error: ExpectedError, connection: Aftermath = 'kept'): Promise<void> {
    return this.check({ sent, answers: [error], connection })
  }

  async fastestMs(sent: Bytes): Promise<number> {
    let fastest = Number.POSITIVE_INFINITY
    for (let run = 0; run < 3; run++) {
      const caller = await this.open()
      const begin = performance.now()
      caller.send(sent)
      await caller.readAnswer()
      fastest = Math.min(fastest, performance.now() - begin)
    }
    return fastest
  }

  async expectStoredAndServing(stored: readonly StoredPlant[]): Promise<void> {
    const fresh = await this.open()
    fresh.send(post(plantText(FRESH_ID)))
    expectAnswer(await fresh.readAnswer(), { plant: { name: plantOf(FRESH_ID).name } })
    const expected = [...stored, plantOf(FRESH_ID)].sort(byId)
    expect(await this.storeUnderTest.readPlants()).toStrictEqual(expected)
    expectCleanLog(this.logLines)
  }
}

/** Runs a server for the tests of a file or a `describe`; its store is empty before each of them. */
export function useWireServer(options: WireServerOptions = {}): WireServer {
  const server = new RunningWireServer(options)
  beforeAll(() => server.start())
  beforeEach(() => server.reset())
  afterEach(() => server.disconnect())
  afterAll(() => server.stop())
  return server
}
