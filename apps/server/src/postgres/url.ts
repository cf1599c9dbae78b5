/// <reference path="./pgpass.d.ts" />
import { parse, toClientConfig } from 'pg-connection-string'
import pgpass from 'pgpass'
import { StoreRefusedError } from '../store/store.ts'

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|::1|\/.*)$/

/** What stands before the hosts, the hosts, and what stands behind them. */
const AUTHORITY = /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/is

/** The parameters that pg, or this program, takes as libpq does. */
const PARAMETERS = [
  ...['host', 'port', 'user', 'password', 'options', 'application_name', 'target_session_attrs'],
  ...['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslnegotiation'],
]

const MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full']

/** Of target_session_attrs: a store is in a server that takes writes. */
const TARGETS = ['any', 'read-write', 'primary']

/** libpq's variables that ask for a protection which pg does not give. */
const UNMET =
  /^PG(?:CHANNELBINDING=require|GSSENCMODE=require|REQUIREAUTH=.|REQUIREPEER=.|SSL(?:ROOTCERT|CERT|KEY|CRL|CRLDIR|CERTMODE|MINPROTOCOLVERSION|MAXPROTOCOLVERSION)=.)/

/** A URL whose list of hosts is apart, since no URL has several; undefined for what is none. */
function split(databaseUrl: string) {
  const [, before = '', hosts = '', after = ''] = AUTHORITY.exec(databaseUrl) ?? []
  const text = `${before}localhost${after}`
  const list = hosts.split(',')
  const urls = [text, ...list.map((host) => `postgres://${host}/`)]
  if (!urls.every((url) => URL.canParse(url))) return undefined
  return { url: new URL(text), hosts, list, after }
}

function withHosts(url: URL, hosts: string): string {
  return url.href.replace(AUTHORITY, (_, before, _host, after) => `${before}${hosts}${after}`)
}

/** @throws Error for what would be ignored. No message holds a value: it might be a secret. */
function checkParameters(parameters: URLSearchParams, environment: NodeJS.ProcessEnv): void {
  const names = [...parameters.keys()]
  const unknown = names.find((name) => !PARAMETERS.includes(name))
  if (unknown !== undefined) {
    // What is no name at all may be the rest of a password.
    const shown = /^[a-z_]{1,30}$/i.test(unknown) && !`${parameters}`.includes('%40')
    throw new Error(
      `${shown ? unknown : 'one of its parameters'} is not honoured here: leave it out. What proves ` +
        `who the server is, is sslmode=verify-full. Taken are ${PARAMETERS.join(', ')}`,
    )
  }
  if (new Set(names).size < names.length) throw new Error('a parameter must be said once')
  const { sslmode, target_session_attrs: target = 'any' } = Object.fromEntries(parameters)
  if (sslmode !== undefined && !MODES.includes(sslmode)) {
    throw new Error(`sslmode must be one of ${MODES.join(', ')}`)
  }
  if (!TARGETS.includes(target)) {
    throw new Error('target_session_attrs must be read-write; to read a standby, name it alone')
  }
  const unmet = Object.keys(environment).find((name) => UNMET.test(`${name}=${environment[name]}`))
  if (unmet) throw new Error(`${unmet} is not honoured here: unset it, and say sslmode=verify-full`)
}

const NO_PASSWORD = 'the server asks for a password, and neither the URL nor PGPASSFILE has one'

/** As libpq does where no password is said, once the server asks for it; pg says by whom and where. */
const findPassword = ((wanted: Parameters<typeof pgpass>[0]): Promise<string> =>
  new Promise((resolve, reject) => {
    pgpass(wanted, (found) => (found ? resolve(found) : reject(new Error(NO_PASSWORD))))
  })) as () => Promise<string>

function parseUrl(databaseUrl: string, environment: NodeJS.ProcessEnv) {
  const parts = split(databaseUrl)
  if (parts === undefined) throw new Error('it is no URL')
  const { url, list } = parts
  const { searchParams: parameters } = url
  const { PGSSLMODE, PGPASSWORD } = environment
  if (PGSSLMODE && !parameters.has('sslmode')) parameters.set('sslmode', PGSSLMODE)
  checkParameters(parameters, environment)
  const servers = list.map((one) => {
    const said = toClientConfig(parse(withHosts(url, one), { useLibpqCompat: true }))
    // Said in as many words: pg would take what is missing from the environment.
    const server = { ...said, host: said.host || 'localhost', port: said.port ?? 5432 }
    return { ...server, password: said.password || PGPASSWORD || findPassword }
  })
  return { servers, parameters }
}

/**
 * Reads a `postgres://` URL, each parameter as in libpq: how to connect to each of its servers, whether
 * they must take writes, and the place without user and password.
 * @throws StoreRefusedError for what cannot be honoured, and for a connection beyond this machine
 * whose sslmode is not said: libpq's own default would fall back to plain text.
 */
export function readPostgresUrl(databaseUrl: string, environment = process.env) {
  let parsed: ReturnType<typeof parseUrl>
  try {
    parsed = parseUrl(databaseUrl, environment)
  } catch (error) {
    // Only the reason: the error itself may hold the URL, and with it a password.
    throw new StoreRefusedError(`the database URL cannot be used: ${(error as Error).message}`)
  }
  const { servers, parameters } = parsed
  const places = servers.map(({ host, port }) => `${host}:${port}`)
  const place = `${places.join(',')}/${servers[0]?.database ?? ''}`
  if (!parameters.has('sslmode') && !servers.every(({ host }) => LOOPBACK.test(host))) {
    const fix = 'end the URL with ?sslmode=verify-full, or with ?sslmode=disable for plain text'
    throw new StoreRefusedError(`the connection to ${place} could be plain text`, { fix })
  }
  const target = parameters.get('target_session_attrs') ?? 'any'
  return { servers, mustWrite: servers.length > 1 || target !== 'any', place }
}

/**
 * A URL without its secrets, where it can be understood in one way only: an `@` behind the host, a
 * parameter without a name that is known, or a colon in the user may be a part of a password.
 */
export function withoutSecrets(databaseUrl: string): string | undefined {
  const parts = split(databaseUrl)
  if (parts === undefined) return undefined
  const { url, hosts, after } = parts
  if (/[@#\s]/.test(after) || /%3a/i.test(url.username)) return undefined
  if (![...url.searchParams.keys()].every((name) => PARAMETERS.includes(name))) return undefined
  if (url.password !== '') url.password = '***'
  if (url.searchParams.has('password')) url.searchParams.set('password', '***')
  return withHosts(url, hosts)
}
