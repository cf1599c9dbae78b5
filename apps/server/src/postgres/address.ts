import { getCACertificates } from 'node:tls'
import type { ClientConfig } from 'pg'
import { type ConnectionOptions, parse, toClientConfig } from 'pg-connection-string'
import { StoreRefusedError } from '../store/store.ts'
import type { GuardedConfig } from './client.ts'
import { type Host, readHosts, splitHosts, withHosts } from './hosts.ts'
import { PARAMETERS, readMethods, readParameters } from './parameters.ts'

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|::1|\[::1\]|\/.*)$/

export interface PostgresAddress {
  /** How to connect to each server that the URL names, in its order; at least one. */
  readonly servers: readonly GuardedConfig[]
  /** libpq's target_session_attrs: which of the servers is meant. */
  readonly target: string
  /** libpq's load_balance_hosts=random: the order of the servers does not count. */
  readonly isBalanced: boolean
  /** Hosts, ports and database, without the user and the password. */
  readonly place: string
}

/** Parameters about several hosts, which pg does not know. */
const OURS = ['host', 'hostaddr', 'port', 'target_session_attrs', 'load_balance_hosts']

interface ParsedUrl {
  readonly parameters: Readonly<Record<string, string>>
  readonly hosts: readonly Host[]
  readonly options: ConnectionOptions
  readonly config: ClientConfig
}

/** The authorities that the machine trusts: libpq's sslrootcert=system. */
function readSystemAuthorities(mode: string | undefined): string[] {
  if (mode !== 'verify-full') throw new Error('sslrootcert=system needs sslmode=verify-full')
  const authorities = getCACertificates('system')
  if (authorities.length > 0) return authorities
  throw new Error('sslrootcert=system finds no authorities here: name their file instead')
}

function parseUrl(databaseUrl: string, environment: NodeJS.ProcessEnv): ParsedUrl {
  try {
    const { url, list } = splitHosts(databaseUrl)
    const parameters = readParameters(url.searchParams, environment)
    const { sslmode, sslrootcert } = parameters
    const ca = sslrootcert === 'system' ? readSystemAuthorities(sslmode) : undefined
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
    if (ca !== undefined) url.searchParams.delete('sslrootcert')
    for (const name of OURS) url.searchParams.delete(name)
    const options = parse(url.href, { useLibpqCompat: true })
    const config = toClientConfig(options)
    if (ca !== undefined && typeof config.ssl === 'object') config.ssl = { ...config.ssl, ca }
    return { parameters, hosts: readHosts(list, parameters), options, config }
  } catch (error) {
    // Only the reason: the error itself may hold the URL, and with it a password.
    const reason = error instanceof Error ? error.message : String(error)
    throw new StoreRefusedError(`the database URL cannot be used: ${reason}`)
  }
}

function toSeconds(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text) * 1_000
}

/** What pg takes under names of its own. */
function translate({ parameters, config }: ParsedUrl): GuardedConfig {
  const { ssl_min_protocol_version: minVersion, ssl_max_protocol_version: maxVersion } = parameters
  const { channel_binding: binding, sslnegotiation: negotiation } = parameters
  const isEncrypted = Boolean(config.ssl)
  if (binding === 'require' && !isEncrypted) {
    throw new StoreRefusedError('channel_binding=require needs TLS: say sslmode as well')
  }
  if (negotiation === 'direct' && !isEncrypted) {
    throw new StoreRefusedError('sslnegotiation=direct needs TLS: say sslmode as well')
  }
  const versions = Object.entries({ minVersion, maxVersion }).filter(([, value]) => value)
  const tls = typeof config.ssl === 'object' ? config.ssl : {}
  return {
    ...config,
    ssl: isEncrypted && { ...tls, ...Object.fromEntries(versions) },
    keepAlive: parameters.keepalives !== '0',
    keepAliveInitialDelayMillis: toSeconds(parameters.keepalives_idle),
    connectionTimeoutMillis: toSeconds(parameters.connect_timeout),
    enableChannelBinding: binding === 'prefer' || binding === 'require',
    authentication: {
      methods: readMethods(parameters.require_auth),
      isBound: binding === 'require',
    },
  }
}

/**
 * Reads a `postgres://` URL: each parameter as in libpq, or refused by its name.
 * @throws StoreRefusedError for what cannot be honoured, and for a connection beyond this machine
 * whose sslmode is not said: libpq's own default would fall back to plain text.
 */
export function readPostgresUrl(
  databaseUrl: string,
  environment: NodeJS.ProcessEnv = process.env,
): PostgresAddress {
  const parsed = parseUrl(databaseUrl, environment)
  const { hosts, options, parameters } = parsed
  const names = hosts.map(({ host, port }) => `${host}:${port}`)
  const place = `${names.join(',')}/${options.database ?? ''}`
  const isLocal = hosts.every(({ host, address }) => LOOPBACK.test(address ?? host))
  if (parameters.sslmode === undefined && !isLocal) {
    throw new StoreRefusedError(
      `the connection to ${place} could be plain text. Say which you mean at the end of the URL: ` +
        '?sslmode=verify-full, or ?sslmode=disable for plain text.',
    )
  }
  const config = translate(parsed)
  // Said in as many words: pg would take what is missing from the environment.
  const password = options.password || environment.PGPASSWORD
  return {
    servers: hosts.map((host) => ({ ...config, ...host, password })),
    target: parameters.target_session_attrs ?? 'any',
    isBalanced: parameters.load_balance_hosts === 'random',
    place,
  }
}

const MASK = '***'

const HIDDEN_PARAMETER = /passw|secret|_key/

function trySplit(databaseUrl: string) {
  try {
    return splitHosts(databaseUrl)
  } catch {
    return undefined
  }
}

/**
 * A URL without its secrets, where it can be understood in one way only: an `@` behind the host, a
 * parameter without a name that is known, or a colon in the user may be a part of a password.
 */
export function withoutSecrets(databaseUrl: string): string | undefined {
  const split = trySplit(databaseUrl)
  if (split === undefined) return undefined
  const { url, hosts, after } = split
  if (/[@#\s]/.test(after) || /%3a/i.test(url.username)) return undefined
  if (url.password !== '') url.password = MASK
  for (const name of new Set(url.searchParams.keys())) {
    if (!Object.hasOwn(PARAMETERS, name)) return undefined
    if (HIDDEN_PARAMETER.test(name)) url.searchParams.set(name, MASK)
  }
  return withHosts(url, hosts)
}
