import { setTimeout as sleep } from 'node:timers/promises'
import type { GuardedClient, GuardedConfig } from './client.ts'
import { sqlStateOf } from './failures.ts'

/** How long a server may keep the next one of the list waiting; RFC 8305, §8. */
const NEXT_AFTER_MS = 250

/** How soon a server that was not the right one is asked again: it may be promoted meanwhile. */
const AGAIN_AFTER_MS = 200

/** None of the servers in a URL is there and what target_session_attrs asks for. */
export class NoServerError extends Error {
  override name = 'NoServerError'
  readonly reasons: readonly unknown[]

  constructor(reasons: ReadonlyMap<GuardedConfig, unknown>) {
    const lines = [...reasons].map(([{ host, port, address }, reason]) => {
      const at = address === undefined || address === host ? '' : ` (${address})`
      return `${host}:${port}${at}: ${reason instanceof Error ? reason.message : reason}`
    })
    super(`none of its servers can be used: ${lines.join('; ')}`)
    this.reasons = [...reasons.values()]
  }
}

/** libpq ends here too: whoever is not let in at one server does not try a password at all. */
function endsTheSearch(error: unknown): boolean {
  return sqlStateOf(error)?.startsWith('28') === true
}

/** Asks one server whether it is the right one, and fails with the reason if it is not. */
export type Ask = (server: GuardedConfig) => {
  readonly client: GuardedClient
  readonly reply: Promise<void>
}

/** One look at a list of servers. */
class Search {
  readonly #servers: readonly GuardedConfig[]
  readonly #ask: Ask
  readonly #failures = new Map<GuardedConfig, unknown>()
  readonly #asked = new Set<GuardedClient>()
  readonly #found = Promise.withResolvers<GuardedConfig>()
  #isOver = false

  constructor(servers: readonly GuardedConfig[], ask: Ask) {
    this.#servers = servers
    this.#ask = ask
  }

  async run(): Promise<GuardedConfig> {
    void this.#askInTurn()
    try {
      return await this.#found.promise
    } finally {
      this.#isOver = true
      for (const client of this.#asked) client.abandon()
    }
  }

  async #askInTurn(): Promise<void> {
    for (const server of this.#servers) {
      if (this.#isOver) return
      const failed = Promise.withResolvers<void>()
      void this.#askUntilOver(server, failed.resolve)
      await Promise.race([failed.promise, sleep(NEXT_AFTER_MS)])
    }
  }

  async #askUntilOver(server: GuardedConfig, onFailure: () => void): Promise<void> {
    while (!this.#isOver) {
      const { client, reply } = this.#ask(server)
      this.#asked.add(client)
      try {
        await reply
        this.#found.resolve(server)
      } catch (error) {
        this.#fail(server, error)
        onFailure()
      } finally {
        this.#asked.delete(client)
      }
      await sleep(AGAIN_AFTER_MS)
    }
  }

  #fail(server: GuardedConfig, error: unknown): void {
    if (endsTheSearch(error)) this.#found.reject(error)
    this.#failures.set(server, error)
    if (this.#failures.size < this.#servers.length) return
    this.#found.reject(new NoServerError(this.#failures))
  }
}

/**
 * The first server that is the right one. The next one of the list is asked when one has failed, or
 * has not answered in time. Ends without one when each has failed once.
 * @throws NoServerError, or the error of a server that refuses the user
 */
export function findServer(servers: readonly GuardedConfig[], ask: Ask): Promise<GuardedConfig> {
  return new Search(servers, ask).run()
}
