import pg from 'pg'
import { StoreRefusedError } from '../store/store.ts'
import { isLost, sqlStateOf } from './errors.ts'
import { Lineage } from './lineage.ts'

type Host = Pick<pg.ClientConfig, 'host' | 'port'>

type Check = (client: pg.ClientBase) => Promise<void>

function isSame(one: Host | undefined, other: Host): boolean {
  return one?.host === other.host && one?.port === other.port
}

/** Cuts a connection; what waits for a response on it fails. */
export function cut(client: pg.ClientBase): void {
  if (client instanceof pg.Client) client.connection.stream.destroy()
}

/**
 * Connections to the first server of a list that can be used, and to the next one of the list when it
 * is lost or takes no more writes.
 */
export class Connections {
  readonly pool: pg.Pool
  /** Whether another server may take the writes that one does not take. */
  readonly areMany: boolean
  readonly #hosts: readonly Host[]
  readonly #readUser: () => pg.ClientConfig
  readonly #lineage = new Lineage()
  readonly #clients = new Set<pg.Client>()
  #next = 0

  /**
   * `check` throws for a new connection that must not be used; `readUser` gives the user and the
   * password as they are said now, where those of before are refused.
   */
  constructor(
    hosts: readonly pg.ClientConfig[],
    config: pg.PoolConfig,
    check: Check,
    readUser: () => pg.ClientConfig,
  ) {
    this.#hosts = hosts
    this.#readUser = readUser
    this.areMany = hosts.length > 1
    this.pool = new pg.Pool({
      ...config,
      ...hosts[0],
      onConnect: (client) =>
        this.#accept(client as pg.Client, check).catch((error) => {
          cut(client)
          throw error
        }),
    })
    this.pool.on('error', () => {})
  }

  /** @throws StoreRefusedError, or the reason why no server can be used */
  async connect(): Promise<pg.PoolClient> {
    const errors: Error[] = []
    let isRenewed = false
    while (errors.length < this.#hosts.length) {
      const { host, port } = this.#hosts[this.#next] ?? {}
      try {
        return await this.pool.connect()
      } catch (cause) {
        if (!isRenewed && sqlStateOf(cause)?.startsWith('28')) {
          const user = this.#readUser()
          for (const one of [...this.#hosts, this.pool.options]) Object.assign(one, user)
          isRenewed = true
          continue
        }
        if (!this.areMany || this.pool.ending || cause instanceof StoreRefusedError) throw cause
        this.#leave({ host, port })
        errors.push(new Error(`${host}:${port}: ${(cause as Error).message}`, { cause }))
      }
    }
    const reasons = errors.map(({ message }) => message).join('; ')
    throw new AggregateError(errors, `none of its servers can be used: ${reasons}`)
  }

  /** Gives a connection back. After an error that may have cost its server, the next one is asked. */
  release(client: pg.PoolClient, error?: unknown): void {
    const isOfNoUse = error !== undefined && isLost(error)
    if (isOfNoUse) {
      this.#leave(client as unknown as pg.Client)
      cut(client)
    }
    client.release(isOfNoUse)
  }

  /** Does some work on a connection of its own. */
  async use<Result>(work: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
    const client = await this.connect()
    const result = await work(client).catch((error) => {
      this.release(client, error)
      throw error
    })
    this.release(client)
    return result
  }

  /** Runs one statement. */
  query<Row extends pg.QueryResultRow>(
    query: string | pg.QueryConfig,
    values?: unknown[],
  ): Promise<pg.QueryResult<Row>> {
    return this.use((client) => client.query<Row>(query, values))
  }

  /** Only the newest primary is used: what waits on a connection to another server fails. */
  async #accept(client: pg.Client, check: Check): Promise<void> {
    // What ends it fails its statement, or it is replaced when the next one is needed.
    this.#clients.add(client.on('error', () => {}).once('end', () => this.#clients.delete(client)))
    await check(client)
    if (!this.areMany) return
    await this.#lineage.check(client)
    for (const other of this.#clients) if (!isSame(other, client)) cut(other)
  }

  /** The pool gives its options to each client that it makes. */
  #leave(host: Host): void {
    if (!isSame(this.#hosts[this.#next], host)) return
    this.#next = (this.#next + 1) % this.#hosts.length
    Object.assign(this.pool.options, this.#hosts[this.#next])
  }
}
