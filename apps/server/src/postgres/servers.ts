import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase } from 'pg'
import type { PostgresAddress } from './address.ts'
import { GuardedClient, type GuardedConfig } from './client.ts'
import { Lineage } from './lineage.ts'
import { findServer } from './search.ts'
import { refuseOtherState, takesAny } from './target.ts'

/** So that a list without the right server is not asked without a pause. */
const PAUSE_MS = 50

/** How long a server may take to say what it is. */
const STATE_TIMEOUT_MS = 2_000

function shuffle<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item)
}

/** Each address of a server, since libpq tries them all. */
async function addressesOf(server: GuardedConfig): Promise<GuardedConfig[]> {
  const { host = '', address } = server
  if (address !== undefined || isIP(host) !== 0 || host.startsWith('/')) return [server]
  const found = await lookup(host, { all: true }).catch(() => [])
  // A name that nobody knows fails when it is connected to, which says so.
  return found.length === 0 ? [server] : found.map(({ address }) => ({ ...server, address }))
}

/** The servers of a URL, and which of them is the one that it asks for. */
export class Servers {
  readonly #order: readonly GuardedConfig[]
  readonly #target: string
  readonly #lineage = new Lineage()
  #current: GuardedConfig
  #search: Promise<void> | undefined

  constructor({ servers, target, isBalanced }: PostgresAddress) {
    this.#order = isBalanced ? shuffle(servers) : servers
    this.#target = target
    const [first] = this.#order
    if (first === undefined) throw new Error('a URL names a server')
    this.#current = first
  }

  /** Where new connections go. */
  get current(): GuardedConfig {
    return this.#current
  }

  /** Whether not every server will do, so that the right one may change without a fault. */
  get isParticular(): boolean {
    return !takesAny(this.#target)
  }

  /** Whether a search may lead elsewhere. */
  get areMany(): boolean {
    return this.#order.length > 1 || this.isParticular
  }

  /** @throws Error with the reason why a connection does not lead to the right server */
  async check(client: ClientBase, target = this.#target): Promise<void> {
    await refuseOtherState(client, target)
    if (this.#order.length > 1) await this.#lineage.check(client)
  }

  /**
   * Finds the server that the URL asks for: in its order, or in any order with
   * load_balance_hosts=random, but first of all where it was. Who asks meanwhile shares the reply.
   * @throws NoServerError, or the error of a server that refuses the user
   */
  find(): Promise<void> {
    this.#search ??= this.#find().finally(() => {
      this.#search = undefined
    })
    return this.#search
  }

  async #find(): Promise<void> {
    const all = (await Promise.all(this.#order.map(addressesOf))).flat()
    const { host, port, address } = this.#current
    const isCurrent = (one: GuardedConfig) =>
      one.host === host && one.port === port && one.address === address
    const servers = [...all.filter(isCurrent), ...all.filter((one) => !isCurrent(one))]
    const find = (target: string) => findServer(servers, (server) => this.#ask(server, target))
    try {
      this.#current =
        this.#target === 'prefer-standby'
          ? await find('standby').catch(() => find('any'))
          : await find(this.#target)
    } catch (error) {
      await sleep(PAUSE_MS)
      throw error
    }
  }

  #ask(server: GuardedConfig, target: string) {
    const client = new GuardedClient({ ...server, query_timeout: STATE_TIMEOUT_MS })
    // What ends it fails the statement that is under way.
    client.on('error', () => {})
    const ask = async () => {
      try {
        await client.connect()
        await this.check(client, target)
      } finally {
        client.end().catch(() => {})
      }
    }
    return { client, reply: ask() }
  }
}
