import type { PoolConfig } from 'pg'
import { type ConnectionOptions, parse, toClientConfig } from 'pg-connection-string'
import { StoreRefusedError } from '../store.ts'

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|::1|\[::1\]|\/.*)$/

/** The modes of libpq (https://www.postgresql.org/docs/current/libpq-ssl.html). */
const MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full']

export interface PostgresAddress {
  readonly config: PoolConfig
  /** Host, port and database, without the user and the password. */
  readonly place: string
}

interface ParsedUrl {
  readonly modes: readonly string[]
  readonly options: ConnectionOptions
  readonly config: PoolConfig
}

function parseUrl(databaseUrl: string): ParsedUrl {
  try {
    const modes = new URL(databaseUrl).searchParams.getAll('sslmode')
    const options = parse(databaseUrl, { useLibpqCompat: true })
    return { modes, options, config: toClientConfig(options) }
  } catch (error) {
    // Only the reason: the error itself may hold the URL, and with it a password.
    const reason = error instanceof Error ? error.message : String(error)
    throw new StoreRefusedError(`the database URL cannot be used: ${reason}`)
  }
}

/**
 * Reads a `postgres://` URL, its sslmode as in libpq.
 * @throws StoreRefusedError for a connection beyond this machine whose sslmode is not said:
 * libpq's own default would fall back to plain text.
 */
export function readPostgresUrl(databaseUrl: string): PostgresAddress {
  const { modes, options, config } = parseUrl(databaseUrl)
  const host = options.host || 'localhost'
  const place = `${host}:${options.port || 5432}/${options.database ?? ''}`
  const [mode] = modes
  if (modes.length > 1 || (mode !== undefined && !MODES.includes(mode))) {
    throw new StoreRefusedError(`sslmode must be said once, as one of ${MODES.join(', ')}`)
  }
  if (mode === undefined && !LOOPBACK.test(host)) {
    throw new StoreRefusedError(
      `the connection to ${place} could be plain text. Say which you mean at the end of the URL: ` +
        '?sslmode=verify-full, or ?sslmode=disable for plain text.',
    )
  }
  // The host is said in as many words: pg would take one that is missing from the environment.
  return { config: { ...config, host }, place }
}
