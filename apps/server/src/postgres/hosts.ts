import pg from 'pg'
import { StoreRefusedError } from '../store/store.ts'
import { isLost } from './errors.ts'
import { Lineage } from './lineage.ts'

type Host = Pick<pg.ClientConfig, 'host' | 'port'>

function isSame(one: Host, other: Host): boolean {
  return one.host === other.host && one.port === other.port
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
  readonly #hosts: readonly Host[]
  readonly #lineage = new Lineage()
  readonly #clients = new Set<pg.Client>()
  #next = 0

  /** `check` throws for a new connection that must not be used. */
  constructor(
    hosts: readonly pg.ClientConfig[],
    config: pg.PoolConfig,
    check: (client: pg.ClientBase) => Promise<void>,
  ) {
    this.#hosts = hosts
    const nextHost = () => hosts[this.#next]
    class HostClient extends pg.Client {
      constructor(options: pg.ClientConfig) {
        super({ ...options, ...nextHost() })
      }
    }
    const accept = async (client: pg.Client) => {
      // What ends it fails its statement, or it is replaced when the next one is needed.
      this.#clients.add(client.on('error', () => {}))
      await check(client)
      if (this.areMany) await this.#accept(client)
    }
    // The pool gives a client all of its configuration, which the type does not say.
    const Client = HostClient as unknown as new () => pg.Client
    const onConnect = (client: pg.ClientBase) => accept(client as pg.Client)
    this.pool = new pg.Pool({ ...config, Client, onConnect })
    this.pool.on('remove', (client) => this.#clients.delete(client as unknown as pg.Client))
    this.pool.on('error', () => {})
  }

  /** Whether another server may take the writes that one does not take. */
  get areMany(): boolean {
    return this.#hosts.length > 1
  }

  /** @throws StoreRefusedError, or the reason why no server can be used */
  async connect(): Promise<pg.PoolClient> {
    const errors: Error[] = []
    while (errors.length < this.#hosts.length) {
      const { host, port } = this.#hosts[this.#next] ?? {}
      try {
        return await this.pool.connect()
      } catch (cause) {
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

  /** Runs one statement on a connection of its own. */
  async query<Row extends pg.QueryResultRow>(
    query: string | pg.QueryConfig,
    values?: unknown[],
  ): Promise<pg.QueryResult<Row>> {
    const client = await this.connect()
    const result = await client.query<Row>(query, values).catch((error) => {
      this.release(client, error)
      throw error
    })
    this.release(client)
    return result
  }

  /** Only the newest primary is used: what waits on a connection to another server fails. */
  async #accept(client: pg.Client): Promise<void> {
    await this.#lineage.check(client)
    for (const other of this.#clients) if (!isSame(other, client)) cut(other)
  }

  #leave(host: Host): void {
    const next = this.#hosts[this.#next]
    if (next && isSame(next, host)) this.#next = (this.#next + 1) % this.#hosts.length
  }
}
