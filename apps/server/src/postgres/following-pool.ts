import pg, { type PoolClient, type PoolConfig } from 'pg'
import { StoreRefusedError } from '../store/store.ts'
import { GuardedClient, type GuardedConfig } from './client.ts'
import type { Servers } from './servers.ts'

/** A statement that takes longer may wait for a server that is gone. */
const SUSPICIOUS_AFTER_MS = 500

/** After a longer wait for a connection, whoever wants one is told; the search goes on without. */
const MOST_PATIENCE_MS = 1_000

type Callback = (
  error: Error | undefined,
  client: PoolClient | undefined,
  done: (release?: boolean | Error) => void,
) => void

/**
 * Connections to that one of several servers which is the right one, wherever that is now. With one
 * server of any kind it is a pool as any other.
 */
export class FollowingPool extends pg.Pool {
  readonly #servers: Servers
  readonly #clients = new Set<PoolClient>()
  readonly #usedSince = new Map<PoolClient, number>()

  /** `watches` is whether statements are short, so that a long one is a reason to look around. */
  constructor(servers: Servers, config: PoolConfig, watches: boolean) {
    class CurrentClient extends GuardedClient {
      constructor(options: GuardedConfig) {
        super({ ...options, ...servers.current })
      }
    }
    // The pool gives it all of this configuration, which its type does not say.
    super({ ...config, Client: CurrentClient as unknown as new () => GuardedClient })
    this.#servers = servers
    // A connection that ends fails its statement, or is replaced when the next one is needed.
    this.on('connect', (client) => this.#clients.add(client.on('error', () => {})))
    this.on('remove', (client) => this.#clients.delete(client))
    this.on('error', () => {})
    if (watches && servers.isParticular) this.#watch()
  }

  /** Whether the server that takes writes may be another than the one that a statement went to. */
  get mayMove(): boolean {
    return this.#servers.isParticular
  }

  override connect(): Promise<PoolClient>
  override connect(callback: Callback): void
  override connect(callback?: Callback): Promise<PoolClient> | undefined {
    const connected = this.#servers.areMany ? this.#connect() : super.connect()
    if (callback === undefined) return connected
    connected.then(
      (client) => callback(undefined, client, client.release),
      (error) => callback(error, undefined, () => {}),
    )
    return undefined
  }

  /** Looks where the right server is now. Connections to others are cut, whatever they wait for. */
  async look(): Promise<void> {
    await this.#servers.find()
    const { current } = this.#servers
    for (const client of this.#clients) {
      if (client instanceof GuardedClient && !client.isTo(current)) client.abandon()
    }
  }

  async #connect(): Promise<PoolClient> {
    const begin = performance.now()
    try {
      return await super.connect()
    } catch (error) {
      if (error instanceof StoreRefusedError || this.ending) throw error
      const looked = this.look()
      if (performance.now() - begin < MOST_PATIENCE_MS) await looked
      else {
        looked.catch(() => {})
        throw error
      }
    }
    return super.connect()
  }

  #watch(): void {
    this.on('acquire', (client) => this.#usedSince.set(client, performance.now()))
    this.on('release', (_error, client) => this.#usedSince.delete(client))
    this.on('remove', (client) => this.#usedSince.delete(client))
    const timer = setInterval(() => {
      if (this.ended) clearInterval(timer)
      const before = performance.now() - SUSPICIOUS_AFTER_MS
      if ([...this.#usedSince.values()].some((since) => since < before)) {
        this.look().catch(() => {})
      }
    }, SUSPICIOUS_AFTER_MS)
    timer.unref()
  }
}
