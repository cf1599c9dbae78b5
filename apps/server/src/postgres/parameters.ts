/** What a parameter of libpq means here. */
type Parameter =
  | { readonly takes: RegExp; readonly words: string; readonly variable?: string }
  | { readonly instead: string; readonly variable?: string }

const anything = { takes: /^/s, words: 'anything' }

/** Taken in this value alone, which is what happens anyway. */
function only(value: string, takes = new RegExp(`^${value}$`)) {
  return { takes, words: value }
}

function refused(instead = 'leave it out') {
  return { instead }
}

const METHODS = ['password', 'md5', 'gss', 'sspi', 'scram-sha-256', 'oauth', 'none']
const METHOD = `(?:${METHODS.join('|')})`
const AUTH = new RegExp(`^(?:${METHOD}(?:,${METHOD})*|!${METHOD}(?:,!${METHOD})*)$`)
const TLS_VERSION = { takes: /^TLSv1(?:\.[123])?$/, words: 'TLSv1, TLSv1.1, TLSv1.2 or TLSv1.3' }
const TARGETS = ['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby']
const NO_GSS = 'leave it out: GSSAPI is not spoken'
const NO_OAUTH = 'leave it out: OAuth is not spoken'
const NO_STRING = 'say it in the URL itself'

/**
 * Every parameter of libpq (PostgreSQL 18, §34.1.2): taken in some values, or refused with what to
 * do instead. `variable` is the environment variable (§34.15) that asks for the same protection; it
 * counts where the URL says nothing.
 */
export const PARAMETERS: Readonly<Record<string, Parameter>> = {
  host: anything,
  hostaddr: anything,
  port: { takes: /^\d{0,5}(?:,\d{0,5})*$/, words: 'numbers, one for each host or one for all' },
  target_session_attrs: {
    takes: new RegExp(`^(?:${TARGETS.join('|')})$`),
    words: `one of ${TARGETS.join(', ')}`,
  },
  load_balance_hosts: { takes: /^(?:disable|random)$/, words: 'disable or random' },
  user: anything,
  password: anything,
  options: anything,
  application_name: anything,
  connect_timeout: { takes: /^[1-4]$/, words: '1 to 4 seconds' },
  keepalives: { takes: /^[01]$/, words: '0 or 1' },
  keepalives_idle: { takes: /^\d{1,6}$/, words: 'a number of seconds' },
  sslmode: {
    takes: /^(?:disable|prefer|require|verify-ca|verify-full)$/,
    words: 'one of disable, prefer, require, verify-ca, verify-full',
    variable: 'PGSSLMODE',
  },
  sslrootcert: { ...anything, variable: 'PGSSLROOTCERT' },
  sslcert: { ...anything, variable: 'PGSSLCERT' },
  sslkey: { ...anything, variable: 'PGSSLKEY' },
  sslnegotiation: {
    takes: /^(?:postgres|direct)$/,
    words: 'postgres or direct',
    variable: 'PGSSLNEGOTIATION',
  },
  ssl_min_protocol_version: { ...TLS_VERSION, variable: 'PGSSLMINPROTOCOLVERSION' },
  ssl_max_protocol_version: { ...TLS_VERSION, variable: 'PGSSLMAXPROTOCOLVERSION' },
  channel_binding: {
    takes: /^(?:disable|prefer|require)$/,
    words: 'disable, prefer or require',
    variable: 'PGCHANNELBINDING',
  },
  require_auth: {
    takes: AUTH,
    words: `methods of ${METHODS.join(', ')}, with commas between, all of them with a ! or none`,
    variable: 'PGREQUIREAUTH',
  },

  client_encoding: only('UTF8', /^utf-?8$/i),
  gssencmode: { ...only('disable', /^(?:disable|prefer)$/), variable: 'PGGSSENCMODE' },
  max_protocol_version: only('3.0', /^(?:3\.0|latest)$/),
  min_protocol_version: only('3.0'),
  sslcertmode: { ...only('allow'), variable: 'PGSSLCERTMODE' },
  sslcompression: only('0'),
  sslsni: only('1'),

  dbname: refused('put the name of the database into the path'),
  fallback_application_name: refused('say application_name'),
  gssdelegation: refused(NO_GSS),
  gsslib: refused(NO_GSS),
  keepalives_count: refused(),
  keepalives_interval: refused(),
  krbsrvname: refused(NO_GSS),
  oauth_client_id: refused(NO_OAUTH),
  oauth_client_secret: refused(NO_OAUTH),
  oauth_issuer: refused(NO_OAUTH),
  oauth_scope: refused(NO_OAUTH),
  passfile: refused('name the file in PGPASSFILE'),
  replication: refused(),
  requirepeer: { ...refused('use a password over the socket'), variable: 'PGREQUIREPEER' },
  requiressl: refused('say sslmode=require'),
  scram_client_key: refused('say the password'),
  scram_server_key: refused('say the password'),
  service: refused(NO_STRING),
  servicefile: refused(NO_STRING),
  sslcrl: { ...refused('leave it out: no list of revocations is read'), variable: 'PGSSLCRL' },
  sslcrldir: {
    ...refused('leave it out: no list of revocations is read'),
    variable: 'PGSSLCRLDIR',
  },
  sslkeylogfile: refused(),
  sslpassword: refused('keep the key in a file without a password that only this program may read'),
  tcp_user_timeout: refused('leave it out: a statement is given up after 4 s'),
}

/** Where each parameter was found; the URL counts before the environment. */
function* findParameters(
  query: URLSearchParams,
  environment: NodeJS.ProcessEnv,
): Generator<readonly [name: string, value: string, source: string]> {
  for (const [name, value] of query) yield [name, value, name]
  for (const [name, { variable }] of Object.entries(PARAMETERS)) {
    const value = environment[variable ?? '']
    if (variable !== undefined && value && !query.has(name)) yield [name, value, variable]
  }
}

/**
 * Reads the parameters of a database URL. No message holds a value: it might be a secret.
 * @throws Error that names a parameter which is unknown, said twice, or cannot be honoured
 */
export function readParameters(
  query: URLSearchParams,
  environment: NodeJS.ProcessEnv,
): Record<string, string> {
  const read: Record<string, string> = {}
  for (const [name, value, source] of findParameters(query, environment)) {
    const parameter = Object.hasOwn(PARAMETERS, name) ? PARAMETERS[name] : undefined
    if (parameter === undefined) {
      // What is no name at all may be the rest of a password.
      const shown = /^[a-z_]{1,30}$/i.test(name) && !query.toString().includes('%40') ? name : 'one'
      throw new Error(`of its parameters, ${shown} is none of PostgreSQL's; leave it out`)
    }
    if (name in read) throw new Error(`${name} must be said once`)
    if ('instead' in parameter) throw new Error(`${source} is not taken: ${parameter.instead}`)
    if (!parameter.takes.test(value)) throw new Error(`${source} must be ${parameter.words}`)
    read[name] = value
  }
  return read
}

/** The methods with which a server may ask who this is: libpq's require_auth. */
export function readMethods(requireAuth: string | undefined): ReadonlySet<string> {
  if (requireAuth === undefined) return new Set(METHODS)
  const said = new Set(requireAuth.replaceAll('!', '').split(','))
  if (!requireAuth.startsWith('!')) return said
  return new Set(METHODS.filter((method) => !said.has(method)))
}
