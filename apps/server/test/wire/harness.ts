import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { type ServerProcess, startServerProcess } from '../../../../test/server-process.ts'
import type { Flags } from '../../src/config/config.ts'
import { environmentNameOf, type SettingName } from '../../src/config/settings.ts'
import type { TokenRecord } from '../../src/store/store.ts'
import { unitNodeFlags } from '../process/node-flags.ts'
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
import { PLANT_NAME, plantOf, plantText, post, token } from './request.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Whether servers are started with the flags of the systemd unit, instead of none. */
    readonly isConfined: boolean
  }
}

/**
 * What becomes of the connection: the next request on it is answered, the server closes it by
 * itself, or the response says that it closes and the server waits until the caller has finished.
 */
export type Aftermath = 'kept' | 'closed' | 'lingering'

interface Exchange {
  /** That of the service by default. */
  readonly port?: number
  readonly sent: Bytes
  /** Every response, in order. */
  readonly replies: readonly ExpectedReply[]
  /** Every plant that the database holds afterwards; none by default. */
  readonly stored?: readonly StoredPlant[]
  /** `kept` by default, unless the last response is an error after which no request can follow. */
  readonly connection?: Aftermath | undefined
}

/** A claim and the bytes that a test sends for it, and what the server responds to them. */
export type Refusal = [claim: string, sent: Bytes, error: ExpectedError, connection?: Aftermath]

/** The plants that show that a connection, or the server, goes on. */
const KEPT_ID = 7_000_000_000_000_000_001n
const FRESH_ID = 7_000_000_000_000_000_002n

/** On a machine that is busy with other tests. */
const START_MS = 60_000

/** Errors after which the bytes that follow are no request. */
const CLOSING =
  /^(malformed_request|headers_too_large|body_too_large|expectation_failed|request_timeout)$/

export function tokenRecord(fields: Partial<TokenRecord> = {}): TokenRecord {
  const { id, secretSha256 } = token
  const times = { createdAt: Date.now(), expiresAt: undefined, revokedAt: undefined }
  return { id, name: 'wire', secretSha256, ...times, lastUsedAt: undefined, ...fields }
}

/** A real server with a real store on ports of its own, for the tests of one file. */
export class WireServer {
  database!: DatabaseUnderTest
  #server!: ServerProcess
  readonly #connections = new Set<Connection>()
  /** How many lines of the log are of earlier tests. */
  #linesBefore = 0

  async start(settings: Flags): Promise<void> {
    this.database = await makeDatabaseUnderTest()
    await this.database.withStore(({ tokens }) => tokens.add(tokenRecord()))
    const { url: databaseUrl, folder } = this.database
    const set = { databaseUrl, logLevel: 'trace', shutdownTimeoutMs: '100', ...settings }
    const environment: Record<string, string> = {}
    for (const name of Object.keys(set) as SettingName[]) {
      environment[environmentNameOf(name)] = String(Reflect.get(set, name))
    }
    // As a user starts it, without flags of Node.js, or with those of the unit.
    const nodeFlags = inject('isConfined') ? unitNodeFlags(folder) : []
    // It serves all tests of a file.
    const onEnd = () => {}
    const options = { folder, token: token.text, nodeFlags, environment, onEnd }
    this.#server = await startServerProcess(options)
  }

  async stop(): Promise<void> {
    expect((await this.#server.end()).code).toBe(0)
    await this.database.close()
    // Nobody could forge a line of it, and it holds no secret.
    for (const line of this.#logLines()) {
      expect(line.trimEnd()).not.toMatch(/[\r\n]/)
      expect(JSON.parse(line)).toHaveProperty('level')
      expectNoSecret(line)
    }
  }

  /** Makes a test independent of those before it. */
  async reset(): Promise<void> {
    await this.quiesce()
    this.#linesBefore = this.#logLines().length
    await this.database.removePlants()
  }

  disconnect(): void {
    for (const connection of this.#connections) connection.destroy()
    this.#connections.clear()
  }

  get port(): number {
    return this.#server.port
  }
  get operationsPort(): number {
    return Number(new URL(this.#server.operationsUrl).port)
  }

  /**
   * Resolves once the server has read what was sent to it, seen which connections have ended, and
   * logged it.
   */
  async quiesce(): Promise<void> {
    // Of two in a row, the second is read in a turn after all that came before the first.
    for (let count = 0; count < 2; count++) {
      const headers = { 'x-request-id': randomUUID() }
      // It is answered once the event loop has had a turn, whatever the store does.
      await fetch(`${this.#server.operationsUrl}/livez`, { headers })
      await this.#server.untilLogged(headers['x-request-id'])
    }
  }

  #logLines(): readonly string[] {
    return this.#server.output().split('\n').slice(0, -1)
  }

  /** One JSON text for each line that the server has logged in this test. */
  async readLog(): Promise<readonly string[]> {
    await this.quiesce()
    return this.#logLines().slice(this.#linesBefore)
  }

  /** A new connection, which ends with the test. */
  async open(port = this.port): Promise<Connection> {
    const connection = await openConnection(port)
    this.#connections.add(connection)
    return connection
  }

  /** The response to one request on a connection of its own. */
  async ask(sent: Bytes, hasBody = true): Promise<Reply> {
    const caller = await this.open()
    caller.send(sent)
    return caller.readReply({ hasBody })
  }

  /** Sends bytes on a new connection and checks what comes back and what is stored. */
  async check({ port, sent, replies, stored = [], connection }: Exchange): Promise<void> {
    const caller = await this.open(port)
    caller.send(sent)
    let last: Reply | undefined
    let aftermath: Aftermath = 'kept'
    for (const expected of replies) {
      const { error, hasBody = true }: Partial<ExpectedError> = Object(expected)
      last = await caller.readReply({ hasBody })
      expectReply(last, expected)
      aftermath = connection ?? (CLOSING.test(String(error)) ? 'closed' : 'kept')
    }
    if (last !== undefined) {
      const saysClose = headerOf(last, 'connection') === 'close'
      expect(saysClose, 'says "connection: close"').toBe(aftermath !== 'kept')
    }
    if (aftermath === 'kept') {
      caller.send(post(plantText(KEPT_ID)))
      expectReply(await caller.readReply(), { plant: { name: PLANT_NAME } })
      return this.expectStoredAndServing([...stored, plantOf(KEPT_ID)])
    }
    if (aftermath === 'lingering') caller.finish()
    expect(String(await caller.readToEnd()), 'after the last response').toBe('')
    await this.expectStoredAndServing(stored)
  }

  /** `check` for one good request, whose plant is answered and stored. */
  accepts(sent: Bytes, stored = plantOf(1), connection?: Aftermath): Promise<void> {
    const { id: _id, ...plant } = stored
    return this.check({ sent, replies: [{ plant }], stored: [stored], connection })
  }

  /** `check` for one request that is answered with an Error and stores nothing. */
  refuses(sent: Bytes, error: ExpectedError, connection?: Aftermath): Promise<void> {
    return this.check({ sent, replies: [error], connection })
  }

  /** Fails unless the database holds these plants only, and a good request is answered 200. */
  async expectStoredAndServing(stored: readonly StoredPlant[]): Promise<void> {
    const isRepeat = (await this.database.readPlants()).some(({ id }) => id === FRESH_ID)
    const reply = await this.ask(post(plantText(FRESH_ID)))
    expectReply(reply, { plant: { name: PLANT_NAME }, isRepeat })
    const expected = [...stored, plantOf(FRESH_ID)]
    expected.sort((one, other) => Number(one.id - other.id))
    expect(await this.database.readPlants()).toStrictEqual(expected)
  }
}

/**
 * Runs a server for the tests of a file or a `describe`, with settings beside the defaults; its
 * database is empty before each of them.
 */
export function useWireServer(settings: Flags = {}): WireServer {
  const server = new WireServer()
  beforeAll(() => server.start(settings), START_MS)
  beforeEach(() => server.reset())
  afterEach(() => server.disconnect())
  afterAll(() => server.stop(), START_MS)
  return server
}

/** A test for each value of each theme; the claim has a place for the name of the theme. */
export function eachOf(
  claim: string,
  check: (value: string) => Promise<void>,
  themes: Readonly<Record<string, readonly string[]>>,
): void {
  describe.each(Object.entries(themes))(claim, (_theme, values) => {
    test.each(values)('%j', check)
  })
}
