import { isIP } from 'node:net'

/** A server as a URL names it. */
export interface Host {
  /** A name, an address, or the folder of a socket. It is what a certificate must be for. */
  readonly host: string
  readonly port: number
  /** Where to connect, if that is not what `host` says: libpq's hostaddr. */
  readonly address?: string
}

const DEFAULT_PORT = '5432'

/** What stands before the hosts, the hosts, and what stands behind them. */
const AUTHORITY = /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/is

/** A URL whose list of hosts is apart, since no URL has several. */
export interface SplitUrl {
  /** With one host in the place of the list. */
  readonly url: URL
  readonly hosts: string
  readonly list: readonly URL[]
  /** What stands behind the hosts. */
  readonly after: string
}

/** @throws TypeError where one of the hosts could not stand in a URL */
export function splitHosts(databaseUrl: string): SplitUrl {
  const [, before = '', hosts = '', after = ''] = AUTHORITY.exec(databaseUrl) ?? []
  const list = hosts
    .split(',')
    .map((item) => new URL(`postgres://${item.startsWith(':') ? 'localhost' : ''}${item}/`))
  return { url: new URL(`${before}localhost${after}`), hosts, list, after }
}

/** The text of a URL, with a list in the place of its host. */
export function withHosts(url: URL, hosts: string): string {
  return url.href.replace(AUTHORITY, (_, before, _host, after) => `${before}${hosts}${after}`)
}

function matchCount(name: string, values: readonly string[], hosts: readonly unknown[]): void {
  if (values.length === hosts.length) return
  throw new Error(`${name} must have as many values as there are hosts`)
}

function readPort(text: string): number {
  const port = Number(text || DEFAULT_PORT)
  if (port >= 1 && port <= 65_535) return port
  throw new Error('port must be 1 to 65535')
}

/**
 * The servers of a URL in its order, by libpq's rules (PostgreSQL 18, §34.1.1.3): parameters count
 * before the list, one port is for all hosts, and what is empty is the default.
 * @throws Error that names the parameter which does not fit
 */
export function readHosts(
  list: readonly URL[],
  parameters: Readonly<Record<string, string>>,
): Host[] {
  const addresses = parameters.hostaddr?.split(',')
  const listed = list.map(({ hostname }) => decodeURIComponent(hostname).replace(/^\[|\]$/g, ''))
  const isListed = listed.some((name) => name !== '')
  const names = parameters.host?.split(',') ?? (isListed ? listed : (addresses ?? listed))
  const ports = parameters.port?.split(',') ?? list.map(({ port }) => port)
  if (ports.length > 1) matchCount('port', ports, names)
  if (addresses !== undefined) matchCount('hostaddr', addresses, names)
  if (addresses?.some((address) => address !== '' && isIP(address) === 0)) {
    throw new Error('hostaddr must be IP addresses')
  }
  return names.map((name, index) => {
    const port = readPort(ports[ports.length > 1 ? index : 0] ?? '')
    const address = addresses?.[index]
    return { host: name || address || 'localhost', port, ...(address && { address }) }
  })
}
